"""The shared words: instance, tour, result, stop criteria, run, errors. numpy only."""
