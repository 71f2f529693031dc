package job

// PositionOf lets the tests beside this package see the bound of queue_position: a queue
// of 1000 jobs is slow to build.
var PositionOf = positionOf
