import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Readable } from 'node:stream'
import { type FastifyReply, fastify } from 'fastify'
import { expect, it, onTestFinished } from 'vitest'
import { cdrsOf } from '../../../cdr/cdr-of.ts'
import { callSummaryOf } from '../../../cdr/testing/call-summaries.ts'
import { type CdrExportDeps, sendExport } from './cdr-export.ts'

const asked = { projectId: 'p', search: { kind: 'call' } } as const
const rows = Array.from({ length: 500 }, () => cdrsOf(callSummaryOf())[0]!)

/** A list without an end, of which the part with this number fails. */
const endless = (failing?: number) => {
  const state = { deps: 0, lines: [] as string[] }
  const deps = {
    cdrs: {
      part: async () => {
        if (++state.deps === failing) throw new Error('the store went away')
        return { rows, next: { startedAt: 1, id: 'x' } }
      },
    },
    log: {
      warn: (_facts: object, text: string) => state.lines.push(text),
    } as unknown as CdrExportDeps['log'],
  }
  return { state, deps }
}

/** Lets everything happen that waits for nobody. */
const settle = async (): Promise<void> => {
  for (let i = 0; i < 50; i++) await new Promise(setImmediate)
}

it.each(['csv', 'jsonl'] as const)('%s is read no faster than it is taken, and no longer', async (format) => {
  const { state, deps } = endless()
  let sent: Readable | undefined
  const reply = {
    header: () => reply,
    type: () => reply,
    send: (stream: Readable) => {
      sent = stream
    },
  }
  sendExport(reply as unknown as FastifyReply, deps, asked, format)
  // A part is far larger than what a stream holds ready.
  sent?.read()
  await settle()
  const before = state.deps
  expect(before).toBeLessThan(3)
  for (let i = 0; i < 5; i++) {
    sent?.read()
    await settle()
  }
  expect(state.deps).toBeGreaterThan(before)
  expect(state.deps).toBeLessThan(before + 8)
  sent?.destroy()
  await settle()
  const left = state.deps
  await settle()
  expect([state.deps, state.lines]).toEqual([left, []])
})

it('that fails in the middle breaks off, so that nobody takes it for all', async () => {
  const { state, deps } = endless(3)
  const site = fastify()
  onTestFinished(() => site.close())
  site.get('/', (_request, reply) => sendExport(reply, deps, asked, 'csv'))
  await site.listen({ host: '127.0.0.1', port: 0 })
  const { port } = site.server.address() as AddressInfo
  const [answer] = (await once(get({ port, host: '127.0.0.1' }), 'response')) as [IncomingMessage]
  answer.resume()
  await expect(once(answer, 'end')).rejects.toMatchObject({ code: 'ECONNRESET' })
  expect([answer.complete, state.lines]).toEqual([false, ['export of CDRs failed']])
})
