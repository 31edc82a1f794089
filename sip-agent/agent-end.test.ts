import { Worker } from 'node:worker_threads'
import { afterEach, expect, it, vi } from 'vitest'
import { startSipAgent } from './index.ts'
import { Peer } from './testing/peer.ts'
import { connectSrf, routed } from './testing/srf.ts'

const listen = [
  { transport: 'udp', address: '127.0.0.1', port: 0 },
  { transport: 'tcp', address: '127.0.0.1', port: 0 },
] as const
const force = vi.spyOn(Worker.prototype, 'terminate')
afterEach(() => force.mockClear())

/** Starts an agent, and also returns its thread. */
const start = () => {
  const once = vi.spyOn(Worker.prototype, 'once')
  const starting = startSipAgent({ listen })
  const worker = once.mock.contexts[0] as Worker
  once.mockRestore()
  return { starting, worker }
}

it('a closing thread ends by itself, with connections and timers open', async () => {
  const agent = await startSipAgent({ listen })
  const [udp, tcp] = agent.addresses
  const srf = await connectSrf(agent)
  const asked = new Promise<void>((resolve) => srf.use('invite', () => resolve()))
  await routed(srf)
  const caller = await Peer.tcp(tcp!.port)
  const callee = await Peer.udp(udp!.port)
  const refused = srf.createUAC(callee.uri, { localSdp: 'v=0\r\n' }).catch(() => 'refused')
  callee.reply(await callee.request('INVITE'), 180)
  caller.send('INVITE', caller.call(`sip:x@127.0.0.1:${tcp!.port}`))
  await asked
  const closed = agent.close()
  srf.disconnect()
  await closed
  expect(force).not.toHaveBeenCalled()
  for (const peer of [caller, callee]) peer.close()
  void refused
})

it('a thread that cannot start ends by itself', async () => {
  const taken = await startSipAgent({ listen })
  const again = startSipAgent({ listen: [listen[1], { ...listen[0], port: taken.addresses[0]!.port }] })
  await expect(again).rejects.toThrow('EADDRINUSE')
  expect(force).not.toHaveBeenCalled()
  await taken.close()
})

it('an error of a thread that ends because it could not start does not end the process', async () => {
  const { starting, worker } = start()
  worker.emit('message', { kind: 'failed', problem: 'no port' })
  worker.emit('error', new Error('while closing'))
  worker.postMessage({ kind: 'close' })
  await expect(starting).rejects.toThrow('no port')
  expect(force).not.toHaveBeenCalled()
})

it('a fault while handling an early message does not prevent the start of a thread', async () => {
  const { starting, worker } = start()
  worker.emit('message', { kind: 'fault', problem: 'of one message' })
  const agent = await starting
  expect(agent.addresses).toHaveLength(2)
  await agent.close()
  expect(force).not.toHaveBeenCalled()
})

it('closing the agent resolves for a thread that has died', async () => {
  const { starting, worker } = start()
  const agent = await starting
  const failed = new Promise<Error>((resolve) => agent.onFailure(resolve))
  let exited = false
  worker.once('exit', () => {
    exited = true
  })
  // A frame that it cannot read would be an uncaught error there.
  worker.postMessage(undefined)
  expect((await failed).message).toContain('undefined')
  await agent.close()
  expect(exited).toBe(true)
  await agent.close()
})
