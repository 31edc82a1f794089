import { expect, it, vi } from 'vitest'
import type { Config } from '../../config/types.ts'
import type { Senders } from '../directory/model/callers.ts'
import { Trust } from '../sip/admission/trust.ts'
import { testCarrier } from '../sip/testing/test-carrier.ts'
import { CarrierDirectory } from '../sip/trunks/carrier-directory.ts'
import { followSenders } from './follow-senders.ts'

const follow = (declared: { allow: string[] }) => {
  const sip = {
    registrar: { domains: [] },
    shield: { scanners: ['Scanner'] },
    dialNetworks: ['10.0.0.0/8'],
  } as unknown as Config['sip']
  const config = { sip, carriers: [testCarrier(declared)], domains: [], project: 'first' }
  const trust = new Trust(config)
  const agent = { change: vi.fn() }
  let tell: (senders: Senders) => void = () => {}
  const directory = {
    onSenders: (listener: typeof tell) => {
      tell = listener
    },
  }
  const change = followSenders(config, directory, {
    carriers: new CarrierDirectory([], { now: () => 0 }),
    trust,
    agent,
  })
  return {
    config,
    change,
    trust,
    agent,
    tell: (senders: Partial<Senders>) => tell({ domains: [], carriers: [], ...senders }),
  }
}

it('the agent learns of networks and carriers that come and go, and of no other change', () => {
  const ours = {
    name: 'carrier',
    project: 'first',
    isGuarded: false,
    isByAddress: true,
    targets: ['sip:carrier.example'],
    networks: ['192.0.2.0/24'],
  }
  const theirs = { ...ours, name: 'theirs', project: 'p2', networks: ['198.51.100.0/24'] }
  const { trust, agent, tell } = follow({ allow: ['192.0.2.0/24'] })
  tell({})
  expect(agent.change).toHaveBeenCalledExactlyOnceWith({
    reach: { networks: ['10.0.0.0/8'], carriers: [ours], sites: [] },
  })
  agent.change.mockClear()
  tell({ domains: [{ project: 'p2', allow: ['192.0.2.0/24'], challenge: undefined, guarded: true }] })
  expect(agent.change).not.toHaveBeenCalled()
  tell({ carriers: [testCarrier({ name: 'theirs', project: 'p2', allow: ['198.51.100.0/24'] })] })
  expect(agent.change.mock.calls).toEqual([
    [{ shield: { scanners: ['scanner'], untrusted: 'answer', known: ['192.0.2.0/24', '198.51.100.0/24'] } }],
    [{ reach: { networks: ['10.0.0.0/8'], carriers: [ours, theirs], sites: [] } }],
  ])
  expect(trust.carrierOf('198.51.100.1', 'p2')?.name).toBe('theirs')
  // What the file declares is of the first project.
  expect(trust.carrierOf('192.0.2.1', 'first')?.project).toBe('first')
  expect(trust.carrierOf('192.0.2.1', 'p2')).toBeUndefined()
  agent.change.mockClear()
  tell({ domains: [{ project: 'first', allow: ['192.0.2.0/24'], challenge: undefined, guarded: false }] })
  expect(agent.change.mock.calls).toEqual([
    [{ shield: { scanners: ['scanner'], untrusted: 'answer', known: ['192.0.2.0/24'] } }],
    [{ reach: { networks: ['10.0.0.0/8'], carriers: [ours], sites: [['192.0.2.0/24']] } }],
  ])
})

it('another configuration changes carriers, the shield and the ports of answers, and nothing that stays', () => {
  const { config, change, trust, agent, tell } = follow({ allow: ['192.0.2.0/24'] })
  tell({})
  agent.change.mockClear()
  change(config)
  expect(agent.change).not.toHaveBeenCalled()
  const sip = { ...config.sip, shield: { ...config.sip.shield, scanners: ['other'] } }
  change({ ...config, sip })
  expect(agent.change).toHaveBeenCalledExactlyOnceWith({
    shield: { scanners: ['other'], untrusted: 'answer', known: ['192.0.2.0/24'] },
  })
  const via = testCarrier({ allow: ['198.51.100.0/24'], responsePort: 'via' })
  change({ ...config, sip, carriers: [via] })
  expect(agent.change).toHaveBeenCalledWith({ viaPortNetworks: ['198.51.100.0/24'] })
  expect([trust.isListed('198.51.100.1'), trust.isListed('192.0.2.1')]).toEqual([true, false])
  // A later change of the directory does not bring the first configuration back.
  tell({})
  expect(trust.isListed('198.51.100.1')).toBe(true)
  change({ ...config, sip: { ...sip, shield: { ...sip.shield, strangers: 'refuse' } } })
  expect(trust.mayChallenge('203.0.113.1')).toBe(false)
})
