import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { agents, named } from '../support/agents.ts'
import { application, scripted } from '../support/applications.ts'
import { Carrier } from '../support/carrier.ts'
import { Gateway } from '../support/gateway.ts'

if (!named)
  it.skip('no drachtio-server: DRACHTIO_SERVER names neither host:port nor a binary, so only the embedded agent is tested', () => {})

const servers = agents.filter(({ server }) => server !== undefined)

// The other scenarios test both kinds of agents. This one tests only the connection.
describe.runIf(named).each(servers)('the connection to $name', (agent) => {
  let gateway: Gateway

  beforeAll(async () => {
    gateway = await Gateway.start({
      agent,
      domains: [application('talk.test', scripted('answer', { sleep: -1 }))],
    })
  })

  afterAll(() => gateway?.stop())

  it('is established, and the gateway takes calls at the listeners of the server', async () => {
    const line = gateway.log.find(({ msg }) => msg === 'SIP agent: connected')
    expect(line?.version).not.toContain('embedded')
    const carrier = await Carrier.calls(gateway, { domain: 'talk.test', scenario: 'call', holdMs: 200 })
    await carrier.done()
    await gateway.settled()
  })

  it('rejects a caller that requires reliable responses with 420, since the server does not support them safely', async () => {
    const values = { status: 420, more: ['Require: 100rel'] }
    const carrier = await Carrier.calls(gateway, { domain: 'talk.test', scenario: 'call-refused', values })
    await carrier.done()
    expect(await gateway.refusal('bad_extension')).toMatchObject({ required: '100rel' })
  })
})
