package story_test

func removeBinary() {}
