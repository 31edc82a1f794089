import type { DocumentRequest } from '../handler.ts'
import { withQuery } from './urls.ts'

/** Version of the forms, as they and the requests of the API name it. */
export const apiVersion = '2010-04-01'

/** A URL and how it is asked. */
export interface Target {
  readonly url: string
  readonly method: 'GET' | 'POST'
}

/** Form fields of one request, in order. */
export type Fields = Readonly<Record<string, string>>

/** The request with these fields: a form for POST, a query for GET. */
export const formRequest = ({ url, method }: Target, fields: Fields): DocumentRequest => {
  const form = new URLSearchParams(fields)
  if (method === 'GET') return { url: withQuery(url, form), method }
  return { url, method, body: { contentType: 'application/x-www-form-urlencoded', text: form.toString() } }
}

/** Whole seconds of milliseconds, as form fields have them. */
export const seconds = (ms: number): string => String(Math.round(ms / 1000))

/** A time as RFC 2822 has it (section 3.3), in UTC. */
export const timestamp = (ms: number): string => new Date(ms).toUTCString().replace('GMT', '+0000')
