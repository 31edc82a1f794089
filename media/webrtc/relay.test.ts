import { expect, it } from 'vitest'
import type { MediaPort } from '../types.ts'
import { Relay } from './relay.ts'
import { ownFormat } from './sdp/negotiate.ts'
import type { MediaWorker } from './worker-supervisor.ts'

it('frees the transport of a move that fails at the edge port', async () => {
  const open = new Set<object>()
  const router = {
    createPlainTransport: async () => {
      const transport = {
        tuple: { localPort: 40_000 },
        connect: async () => {},
        produce: async () => ({ id: 'p' }),
        close: () => void open.delete(transport),
      }
      open.add(transport)
      return transport
    },
  }
  const worker = {
    routers: { audio: async () => router, audioWithEvents: async () => router },
    relayPorts: { from: 1, to: 2 },
  } as unknown as MediaWorker
  let isClosed = false
  const port = {
    port: 5000,
    ssrc: 7,
    setFar: () => {
      if (isClosed) throw new Error('the port is closed')
    },
  } as unknown as MediaPort
  const relay = await Relay.open(worker, port, ownFormat('PCMU'))
  const before = [...open]
  isClosed = true
  for (let i = 0; i < 2; i++) await expect(relay.moveTo(worker)).rejects.toThrow('the port is closed')
  expect([...open]).toEqual(before)
  isClosed = false
  await relay.moveTo(worker)
  expect(open.size).toBe(2)
  relay.close()
  expect([...open]).toEqual(before)
})
