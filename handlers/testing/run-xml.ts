import type { RunAgentRequest } from '../agent/agent-runner.ts'
import type { DocumentSource, StatusCallback } from '../handler.ts'
import { createXmlHandler } from '../xml/handler.ts'
import { FakeCall } from './fake-call.ts'
import { FakeContext } from './fake-context.ts'

/** Base URL of the documents of tests. */
export const root = 'https://app.example'

/** Document without a successor. */
export const nothingMore = '<Response><Hangup/></Response>'

/** Returns an inline document. */
export const inline = (body: string): DocumentSource => ({
  kind: 'inline',
  text: `<Response>${body}</Response>`,
  name: 'test',
})

/**
 * Runs a document, inline or, with `at`, fetched from that path below {@link root}. The path `/next` has a
 * document without a successor.
 */
export const runXml = async (
  body: string,
  {
    call = new FakeCall(),
    context = new FakeContext(),
    at,
    runAgent,
  }: { call?: FakeCall; context?: FakeContext; at?: string; runAgent?: RunAgentRequest } = {},
) => {
  context.documents[`${root}/next`] ??= nothingMore
  const source: DocumentSource = at === undefined ? inline(body) : { kind: 'url', url: `${root}${at}` }
  if (at !== undefined) context.documents[`${root}${at}`] = `<Response>${body}</Response>`
  await createXmlHandler(undefined, runAgent).run(call, source, context)
  return { call, context }
}

/** Returns the form or the query of a callback, in order. */
export const fieldsOf = ({ url, body }: StatusCallback | undefined = missing): Record<string, string> =>
  Object.fromEntries(new URLSearchParams(body?.text ?? new URL(url).search))

const missing: StatusCallback = { kind: '', url: 'https://none.example', method: 'POST' }
