-- The thresholds of all passes, each with its reason. One set for every trace: nothing here
-- depends on the program, the machine or the recording. Stored, so that a finding can be read
-- together with the rules that made it.

INSERT INTO parameter (trace_id, name, value, reason) VALUES
(:trace, 'class_share', 0.9,
 'A line is false or true when at least nine tenths of its evidence is of that class: the ' ||
     'remainder is then within what sampling and start-up leave behind'),
(:trace, 'min_miss_samples', 5,
 'Fewer samples leave a relative error above 45 % and can come from start-up alone; also the ' ||
     'sampled writes per written place below which a mixed verdict has low confidence'),
(:trace, 'min_writes_per_place', 3,
 'Sampled writes per written place below which a place is likely to be missed altogether (1 in ' ||
     '20 at 3, by Poisson): then "other bytes were written" is no safe answer on a line where ' ||
     'the same bytes are written too'),
(:trace, 'min_line_share', 0.002,
 'A line whose accesses miss less often than 1 in 500 is not slowed by its misses: even at 300 ' ||
     'cycles each they add less than a cycle per access'),
(:trace, 'min_program_share', 0.0002,
 'Below 1 in 5000 of the program''s accesses, misses cost well under a few per cent of the run'),
(:trace, 'loads_per_store', 2,
 'A load event with a latency threshold hides the fast loads; programs make at least about two ' ||
     'loads per store, which bounds their number from below'),
(:trace, 'candidate_lines', 1000,
 'Lines examined per kind of evidence (transfers, latency, writes). By min_program_share at ' ||
     'most 5000 lines can matter at all, and the strongest come first'),
(:trace, 'min_base_samples', 30,
 'Samples for a baseline latency of one code address, or of an operation; with fewer, that of ' ||
     'the operation is used, or of the quickest operation'),
(:trace, 'slow_factor', 4,
 'Without source and cache events an access counts as a miss when it took this many times the ' ||
     'median of its operation: an L2 hit takes about 3 times an L1 hit, another core''s cache ' ||
     '10 times and more'),
(:trace, 'assumed_miss_cycles', 100,
 'Cost of a miss without a latency, where the trace has no miss with one: between a transfer ' ||
     'inside a cluster (about 60) and from another socket (about 300)'),
(:trace, 'assumed_hit_cycles', 5,
 'Cost of a hit in L1 where hits are below the event''s threshold: 4 to 5 cycles on today''s cores'),
(:trace, 'upgrade_share', 0.5,
 'Of what a miss costs, the part that a store pays which only has to make a shared copy its own: ' ||
     'the way is as long, but the store buffer hides some of it'),
(:trace, 'min_pair_share', 0.005,
 'Pairs below 1 in 200 of their line''s misses are not reported'),
(:trace, 'pairs_per_line', 128,
 'Pairs reported for one line: any two of 16 fields of four bytes make 120'),
(:trace, 'time_slices', 62,
 'Slices of a line''s life by which overlap in time is judged: what a 64-bit mask holds'),
(:trace, 'samples_per_slice', 16,
 'So many samples of the line per slice on average, else fewer slices: with fewer, threads ' ||
     'that do overlap would seem to miss each other by chance'),
(:trace, 'min_slices', 8,
 'Slices from which the bounds of a cost can be drawn anew: with fewer they hold less than 95 %'),
(:trace, 'confident_samples', 30,
 'Attributed misses for high confidence: the share of a class is then known to about 10 points ' ||
     'either way; a third of it is the limit for medium'),
(:trace, 'confident_share', 0.8,
 'High confidence needs so much of the misses attributed, and so much of the evidence from ' ||
     'known widths'),
(:trace, 'quiet_lines', 100,
 'Private and read-only lines reported, by latency: they answer what else was slow'),
(:trace, 'clock_low', 2.2,
 'GHz of the cores at least, where no cycles were sampled: what servers with all cores busy run at'),
(:trace, 'clock_high', 3.3,
 'The same, at most: what they boost to'),
(:trace, 'access_cycles_low', 1,
 'Cycles that a thread takes per memory access at least, other work included: three instructions ' ||
     'of which one is an access, three a cycle'),
(:trace, 'access_cycles_high', 3,
 'The same, at most, for a thread whose misses have ended: one instruction a cycle'),
(:trace, 'wait_loads_per_write', 2,
 'A thread that loads a place more than twice as often as others write it waits there for the ' ||
     'write: one load would have seen it'),
(:trace, 'wait_share', 0.5,
 'More of a line''s false misses than this on loads in wait loops, and it is a matter of waiting: ' ||
     'how long threads wait is not decided by what their looking costs'),
(:trace, 'max_gain_ratio', 3,
 'A range of gains whose ends differ by more says too little to act on'),
(:trace, 'min_profile_samples', 30,
 'A ratio of counters from fewer samples has an error above a quarter and is not shown');

DROP TABLE IF EXISTS temp.t_parameter;
CREATE TEMP TABLE t_parameter AS
SELECT max(value) FILTER (WHERE name = 'class_share') AS class_share,
       max(value) FILTER (WHERE name = 'min_miss_samples') AS min_miss_samples,
       max(value) FILTER (WHERE name = 'min_writes_per_place') AS min_writes_per_place,
       max(value) FILTER (WHERE name = 'min_line_share') AS min_line_share,
       max(value) FILTER (WHERE name = 'min_program_share') AS min_program_share,
       max(value) FILTER (WHERE name = 'loads_per_store') AS loads_per_store,
       CAST(max(value) FILTER (WHERE name = 'candidate_lines') AS INTEGER) AS candidate_lines,
       max(value) FILTER (WHERE name = 'min_base_samples') AS min_base_samples,
       max(value) FILTER (WHERE name = 'slow_factor') AS slow_factor,
       max(value) FILTER (WHERE name = 'assumed_miss_cycles') AS assumed_miss_cycles,
       max(value) FILTER (WHERE name = 'assumed_hit_cycles') AS assumed_hit_cycles,
       max(value) FILTER (WHERE name = 'upgrade_share') AS upgrade_share,
       max(value) FILTER (WHERE name = 'min_pair_share') AS min_pair_share,
       max(value) FILTER (WHERE name = 'pairs_per_line') AS pairs_per_line,
       CAST(max(value) FILTER (WHERE name = 'time_slices') AS INTEGER) AS time_slices,
       CAST(max(value) FILTER (WHERE name = 'samples_per_slice') AS INTEGER) AS samples_per_slice,
       max(value) FILTER (WHERE name = 'min_slices') AS min_slices,
       max(value) FILTER (WHERE name = 'confident_samples') AS confident_samples,
       max(value) FILTER (WHERE name = 'confident_share') AS confident_share,
       CAST(max(value) FILTER (WHERE name = 'quiet_lines') AS INTEGER) AS quiet_lines,
       max(value) FILTER (WHERE name = 'clock_low') AS clock_low,
       max(value) FILTER (WHERE name = 'clock_high') AS clock_high,
       max(value) FILTER (WHERE name = 'access_cycles_low') AS access_cycles_low,
       max(value) FILTER (WHERE name = 'access_cycles_high') AS access_cycles_high,
       max(value) FILTER (WHERE name = 'wait_loads_per_write') AS wait_loads_per_write,
       max(value) FILTER (WHERE name = 'wait_share') AS wait_share,
       max(value) FILTER (WHERE name = 'max_gain_ratio') AS max_gain_ratio,
       max(value) FILTER (WHERE name = 'min_profile_samples') AS min_profile_samples
FROM parameter WHERE trace_id = :trace;
