// Requests to the API.

export const failure = (message, status) => Object.assign(new Error(message), {status})

export const get = (path, query, signal) => send("GET", path + search(query), undefined, signal)

export async function send(method, path, body, signal, again = method === "GET") {
	let answer
	try {
		answer = await fetch("/api/v1" + path, {
			method, signal, headers: {Authorization: "Bearer " + key(), "Content-Type": "application/json"},
			body: JSON.stringify(body),
		})
	} catch (error) {
		if (error.name === "AbortError") throw error
		if (again) return send(method, path, body, signal, false) // the network has changed
		throw failure("torchx ui does not answer: is it still running?", 0)
	}
	const json = await answer.json().catch(error => {
		if (error.name === "AbortError") throw error
	})
	if (!answer.ok || json === undefined) throw failure(json?.error ?? `torchx ui answers with status ${answer.status} and no JSON`, answer.status)
	return json
}

// key returns what opens the API, read each time: another tab may have a newer one.
function key() {
	try {
		return window.torchxKey ?? localStorage["torchx-key"]
	} catch {
		return null
	}
}

// apiURL returns the address of a path for requests without headers: streams and downloads.
export function apiURL(path) {
	const url = new URL("/api/v1" + path, location.origin)
	url.searchParams.set("token", key() ?? "")
	return url
}

// assign sets parameters of a query string; null, "" and false remove them.
export function assign(params, values = {}) {
	for (const [name, value] of Object.entries(values)) {
		params.delete(name)
		for (const v of [value].flat()) {
			if (v != null && v !== "" && v !== false) params.append(name, v === true ? "1" : v)
		}
	}
	return params
}

export const search = values => String(assign(new URLSearchParams(), values)).replace(/^./, "?$&")
