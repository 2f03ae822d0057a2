package program

// HandleHelp explains what stands for an app on the command line.
const HandleHelp = "HANDLE is what `torchx run` printed (backend://session/app_id), any unique beginning of an app id, or - for the app that was submitted last."
