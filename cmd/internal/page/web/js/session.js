// What the server said of itself, asked once.
import {get} from "./api.js"

let asked = null, skew = 0, locked = false

// session resolves to the description of the server.
export function session() {
	asked ??= get("/session").then(answer => {
		skew = Date.parse(answer.time) - Date.now()
		locked = answer.read_only
		return answer
	}, error => {
		asked = null
		throw error
	})
	return asked
}

export const readOnly = () => locked

export const now = () => Date.now() + skew
