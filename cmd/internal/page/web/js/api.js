// Requests to the API.

export class Failure extends Error {
	constructor(message, status) {
		super(message)
		this.status = status
	}
}

export function get(path, query, signal) {
	return send("GET", path + search(query), undefined, signal)
}

export async function send(method, path, body, signal, again = method === "GET") {
	let answer
	try {
		answer = await fetch("/api/v1" + path, {
			method, signal, credentials: "same-origin",
			headers: method === "GET" ? {} : {"Content-Type": "application/json", "X-Torchx-Csrf": csrf()},
			body: body === undefined ? undefined : JSON.stringify(body),
		})
	} catch (error) {
		if (error.name === "AbortError") throw error
		if (again) return send(method, path, body, signal, false) // the network has changed
		throw new Failure("torchx ui does not answer: is it still running?", 0)
	}
	const text = await answer.text()
	let json = null
	try {
		json = text ? JSON.parse(text) : null
	} catch {
		if (answer.ok) throw new Failure("the answer of torchx ui is not JSON", answer.status)
	}
	if (!answer.ok) throw new Failure(json?.error ?? text.trim() ?? answer.statusText, answer.status)
	return json
}

const csrf = () => document.querySelector("meta[name=csrf]")?.content ?? ""

export const readOnly = () => document.querySelector("meta[name=read-only]")?.content === "true"

export function search(query) {
	const q = new URLSearchParams()
	for (const [key, value] of Object.entries(query ?? {})) {
		for (const v of Array.isArray(value) ? value : [value]) {
			if (v != null && v !== "" && v !== false) q.append(key, v === true ? "1" : v)
		}
	}
	const text = q.toString()
	return text ? "?" + text : ""
}
