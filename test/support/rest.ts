import type { Gateway } from './gateway.ts'
import { authorization } from './recorded.ts'

/** Answer of the API. */
export interface RestAnswer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: the shapes of answers are what is tested.
  readonly body: any
}

/** Sends a request to the API of a gateway, with its token or another `Authorization`. */
export const rest = async (
  gateway: Gateway,
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  path: string,
  body?: object,
  credentials = authorization,
): Promise<RestAnswer> => {
  const answer = await fetch(`${gateway.url}${path}`, {
    method,
    headers: { authorization: credentials, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  return { status: answer.status, body: text === '' ? undefined : JSON.parse(text) }
}

/** Creates an object by the API, expects 201, and returns the body. */
export const made = async (gateway: Gateway, path: string, body: object): Promise<RestAnswer['body']> => {
  const answer = await rest(gateway, 'POST', path, body)
  if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body
}
