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

it('a thread that is to close ends by itself, whatever is open', async () => {
  const agent = await startSipAgent({ listen })
  const [udp, tcp] = agent.addresses
  const srf = await connectSrf(agent)
  const asked = new Promise<void>((resolve) => srf.use('invite', () => resolve()))
  await routed(srf)
  const [caller, callee] = [await Peer.tcp(tcp!.port), await Peer.udp(udp!.port)]
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
