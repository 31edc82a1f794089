import { afterAll, beforeAll, expect, it } from 'vitest'
import { freePort } from '../../media/testing/free-ports.ts'
import { embedded } from '../support/agents.ts'
import { scripted } from '../support/applications.ts'
import { Carrier } from '../support/carrier.ts'
import { Gateway } from '../support/gateway.ts'
import { offer, SipSocket } from '../support/sip-socket.ts'
import { until } from '../support/until.ts'

let gateway: Gateway
let port: number

beforeAll(async () => {
  port = await freePort()
  const to = `sip:desk@127.0.0.20:${port}`
  gateway = await Gateway.start({
    agent: embedded,
    sip: { shield: { strangers: 'drop' } },
    domains: [
      {
        domain: 'closed.test',
        allow: ['127.0.0.1/32'],
        handler: scripted({ connect: { to, answer_on_bridge: true } }),
      },
    ],
  })
})

afterAll(() => gateway?.stop())

const dropped = () => gateway.metric('sip_dropped_total', { reason: 'stranger' })

it.each(['INVITE', 'OPTIONS', 'REGISTER', 'BYE'])(
  'a %s from an untrusted source gets no response with `strangers: drop`, and is counted',
  async (method) => {
    const before = await dropped()
    const socket = await SipSocket.udp(gateway.sipPort, '127.0.0.9')
    socket.raw(socket.text({ method, uri: 'sip:1@closed.test', ...(method === 'INVITE' && offer()) }))
    await until('it is dropped', dropped, (count) => count === before + 1)
    expect(socket.answers).toEqual([])
  },
)

it('a callee at an unlisted address can answer and hang up with `strangers: drop`', async () => {
  const callee = await Carrier.listens({
    address: '127.0.0.20',
    port,
    scenario: 'callee-hangs-up',
    holdMs: 100,
  })
  const caller = await Carrier.calls(gateway, { domain: 'closed.test', scenario: 'caller-released' })
  await callee.done()
  await caller.done()
  await gateway.settled()
})
