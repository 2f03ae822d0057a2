// What the server said of itself, asked once.
import {get} from "./api.js"

let asked = null, skew = 0, locked = false

// session resolves to the description of the server.
export function session() {
	asked ??= get("/session").then(answer => {
		skew = Date.parse(answer.time) - Date.now()
		locked = answer.read_only
		try {
			if (window.torchxKey) localStorage["torchx-key"] = window.torchxKey
			window.torchxKey = null
			delete sessionStorage.newKey
		} catch {/* no storage: until the page is reloaded */}
		return answer
	}, error => {
		asked = null
		if (error.status !== 401 || !window.torchxKey) throw error
		window.torchxKey = null // of a stranger
		return session()
	})
	return asked
}

export const readOnly = () => locked

export const now = () => Date.now() + skew
