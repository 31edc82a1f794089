import type { Gateway } from './gateway.ts'
import { authorization } from './recorded.ts'

/** An answer of the API. */
export interface RestAnswer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: the shapes of answers are what is tested.
  readonly body: any
}

/** Asks the API of a gateway, with its token or another `Authorization`. */
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

/** Makes something by the API, and gives its body. */
export const made = async (gateway: Gateway, path: string, body: object): Promise<RestAnswer['body']> => {
  const answer = await rest(gateway, 'POST', path, body)
  if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body
}
