REGION = "us-east-1"
images = {"cpu": "repo/cpu:1", "gpu": "repo/gpu:1"}
