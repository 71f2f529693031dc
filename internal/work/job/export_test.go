package job

// FarthestPosition and ReadView let the tests beside this package lower the bound of
// queue_position: a queue of 1000 jobs is slow to build.
const FarthestPosition = farthestPosition

// ReadView reads a job's view with the given bound.
var ReadView = readView
