-- What an ended attempt used: the peak memory of its largest process in bytes,
-- and the CPU time of all its processes in seconds.
ALTER TABLE attempts ADD COLUMN max_rss     INTEGER;
ALTER TABLE attempts ADD COLUMN cpu_seconds REAL;
