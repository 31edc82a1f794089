import { expect } from 'vitest'
import type { DocumentRequest, DocumentServer } from './documents.ts'
import type { Gateway } from './gateway.ts'
import { authorization } from './recorded.ts'
import { until } from './until.ts'

/** Call in the form of `/api/calling`. */
export type CallLeg = Readonly<Record<string, unknown>> & { readonly id: string }

/** Sends a command, and returns the answer with any status. */
export const ask = async (
  gateway: Gateway,
  command: string,
  params: object,
  id?: string,
): Promise<{ readonly status: number; readonly body: Readonly<Record<string, unknown>> }> => {
  const answer = await fetch(`${gateway.url}/api/calling/calls`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ command, ...(id !== undefined && { id }), params }),
  })
  return { status: answer.status, body: (await answer.json()) as Readonly<Record<string, unknown>> }
}

/** Sends a command, expects 200, and returns the call. */
export const command = async (
  gateway: Gateway,
  name: string,
  params: object,
  id?: string,
): Promise<CallLeg> => {
  const { status, body } = await ask(gateway, name, params, id)
  expect([status, body]).toEqual([200, expect.objectContaining({ id: expect.any(String) })])
  return body as CallLeg
}

/** Returns the callbacks at a path of the server, in order of arrival. */
export const eventsAt = (server: DocumentServer, path: string) =>
  server.asked(path).map(({ body }: DocumentRequest) => JSON.parse(body) as CallEvent)

/** Event of a call. */
export interface CallEvent {
  readonly event_type: string
  readonly project_id: string
  readonly params: Readonly<Record<string, unknown>>
}

/** Waits for this number of call states at a path of the server, and returns them. */
export const states = (server: DocumentServer, path: string, count: number) =>
  until(
    `${count} states at ${path}`,
    () =>
      eventsAt(server, path)
        .filter(({ event_type }) => event_type === 'calling.call.state')
        .map(({ params }) => params.call_state),
    (states) => states.length >= count,
  )
