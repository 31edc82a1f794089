import { FakeCall } from '../common/fake-call.ts'
import { FakeContext } from '../common/fake-context.ts'
import type { DocumentSource, StatusCallback } from '../handler.ts'
import { createXmlHandler } from './handler.ts'

/** Where the documents of tests are. */
export const root = 'https://app.example'

/** A document that goes no further. */
export const nothingMore = '<Response><Hangup/></Response>'

/** A document in place. */
export const inline = (body: string): DocumentSource => ({
  kind: 'inline',
  text: `<Response>${body}</Response>`,
  name: 'test',
})

/**
 * Runs a document: in place, or where `at` says so (a path below {@link root}) fetched from there. `/next` is there too, and goes no
 * further.
 */
export const runXml = async (
  body: string,
  {
    call = new FakeCall(),
    context = new FakeContext(),
    at,
  }: { call?: FakeCall; context?: FakeContext; at?: string } = {},
) => {
  context.documents[`${root}/next`] ??= nothingMore
  const source: DocumentSource = at === undefined ? inline(body) : { kind: 'url', url: `${root}${at}` }
  if (at !== undefined) context.documents[`${root}${at}`] = `<Response>${body}</Response>`
  await createXmlHandler().run(call, source, context)
  return { call, context }
}

/** The form, or the query, of a callback, in order. */
export const fieldsOf = ({ url, body }: StatusCallback | undefined = missing): Record<string, string> =>
  Object.fromEntries(new URLSearchParams(body?.text ?? new URL(url).search))

const missing: StatusCallback = { kind: '', url: 'https://none.example', method: 'POST' }
