import type { DocumentRequest } from '../handler.ts'
import { withQuery } from './urls.ts'

/** Version of the forms, as named in forms and in requests of the API. */
export const apiVersion = '2010-04-01'

/** URL and the method of its requests. */
export interface Target {
  readonly url: string
  readonly method: 'GET' | 'POST'
}

/** Form fields of a request, in order. */
export type Fields = Readonly<Record<string, string>>

/** Returns the request with these fields, as a form for POST or a query for GET. */
export const formRequest = ({ url, method }: Target, fields: Fields): DocumentRequest => {
  const form = new URLSearchParams(fields)
  if (method === 'GET') return { url: withQuery(url, form), method }
  return { url, method, body: { contentType: 'application/x-www-form-urlencoded', text: form.toString() } }
}

/** Returns whole seconds of milliseconds, as a form field. */
export const seconds = (ms: number): string => String(Math.round(ms / 1000))

/** Returns a time in UTC in the format of RFC 2822 section 3.3. */
export const timestamp = (ms: number): string => new Date(ms).toUTCString().replace('GMT', '+0000')
