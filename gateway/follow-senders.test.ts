import { expect, it, vi } from 'vitest'
import type { Config } from '../config/types.ts'
import type { Senders } from './directory/types.ts'
import { followSenders } from './follow-senders.ts'
import { Carriers } from './sip/carriers/carriers.ts'
import { testCarrier } from './sip/carriers/testing.ts'
import { Trust } from './sip/door/trust.ts'

const follow = (declared: { allow: string[] }) => {
  const sip = { registrar: { domains: [] }, shield: { scanners: ['Scanner'] } } as unknown as Config['sip']
  const config = { sip, carriers: [testCarrier(declared)], domains: [], project: 'first' }
  const trust = new Trust(config)
  const agent = { change: vi.fn() }
  let tell: (senders: Senders) => void = () => {}
  const directory = {
    onSenders: (listener: typeof tell) => {
      tell = listener
    },
  }
  followSenders(config, directory, { carriers: new Carriers([], { now: () => 0 }), trust, agent })
  return {
    trust,
    agent,
    tell: (senders: Partial<Senders>) => tell({ domains: [], carriers: [], ...senders }),
  }
}

it('the agent is told of networks that come and go, and of nothing else', () => {
  const { trust, agent, tell } = follow({ allow: ['192.0.2.0/24'] })
  tell({})
  tell({ domains: [{ project: 'p2', allow: ['192.0.2.0/24'], challenge: undefined, guarded: true }] })
  expect(agent.change).not.toHaveBeenCalled()
  tell({ carriers: [testCarrier({ name: 'theirs', project: 'p2', allow: ['198.51.100.0/24'] })] })
  expect(agent.change).toHaveBeenCalledExactlyOnceWith({
    shield: { scanners: ['scanner'], known: ['192.0.2.0/24', '198.51.100.0/24'] },
  })
  expect(trust.carrierOf('198.51.100.1', 'p2')?.name).toBe('theirs')
  // What the file declares is of the first project.
  expect(trust.carrierOf('192.0.2.1', 'first')?.project).toBe('first')
  expect(trust.carrierOf('192.0.2.1', 'p2')).toBeUndefined()
  tell({})
  expect(agent.change).toHaveBeenLastCalledWith({
    shield: { scanners: ['scanner'], known: ['192.0.2.0/24'] },
  })
})
