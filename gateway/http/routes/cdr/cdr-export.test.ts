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

/** Returns an endless list, of which the read with this number fails. */
const endless = (failing?: number) => {
  const state = { reads: 0, lines: [] as string[] }
  const deps = {
    cdrs: {
      part: async () => {
        if (++state.reads === failing) throw new Error('the store went away')
        return { rows, next: { startedAt: 1, id: 'x' } }
      },
    },
    log: {
      warn: (_facts: object, text: string) => state.lines.push(text),
    } as unknown as CdrExportDeps['log'],
  }
  return { state, deps }
}

/** Lets all pending work run. */
const settle = async (): Promise<void> => {
  for (let i = 0; i < 50; i++) await new Promise(setImmediate)
}

it.each(['csv', 'jsonl'] as const)(
  'an export of %s is read at the speed of the client, and stops when the client has left',
  async (format) => {
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
    // One read returns far more than a stream buffers.
    sent?.read()
    await settle()
    const before = state.reads
    expect(before).toBeLessThan(3)
    for (let i = 0; i < 5; i++) {
      sent?.read()
      await settle()
    }
    expect(state.reads).toBeGreaterThan(before)
    expect(state.reads).toBeLessThan(before + 8)
    sent?.destroy()
    await settle()
    const left = state.reads
    await settle()
    expect([state.reads, state.lines]).toEqual([left, []])
  },
)

it('a failed export closes the connection, so that no client reads it as complete', async () => {
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
