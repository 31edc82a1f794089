import { expect, it } from 'vitest'
import type { Target } from '../model.ts'
import { presenceAnswer } from './presence-answer.ts'

const targets: Readonly<Record<string, Target>> = {
  '/public/ann': { kind: 'subscriber', subscriberId: 's1', address: '/public/ann' },
  '/public/desk': { kind: 'endpoint', endpointId: 'e1', address: '/public/desk' },
  '/public/menu': { kind: 'handler', handler: { kind: 'realtime', topic: 't' }, address: '/public/menu' },
}
const source = {
  directory: { resolve: (to: string, project: string) => (project === 'p1' ? targets[to] : undefined) },
  browsers: (id: string) => (id === 's1' ? 2 : 0),
  contacts: (id: string) => (id === 'e1' ? 1 : 0),
  listeners: (project: string, topic: string) => (project === 'p1' && topic === 'office' ? 3 : 0),
}

it('counts browsers, phones and applications of the project', () => {
  const addresses = ['/public/ann', '/public/desk', '/public/menu', '/public/nowhere']
  expect(presenceAnswer(source, { project: 'p1', addresses, topics: ['office', 'other'] })).toEqual({
    addresses: { '/public/ann': 2, '/public/desk': 1 },
    topics: { office: 3, other: 0 },
  })
  expect(presenceAnswer(source, { project: 'p2', addresses, topics: ['office'] })).toEqual({
    addresses: {},
    topics: { office: 0 },
  })
})

it.each([
  {},
  { project: 'p1', addresses: 'x', topics: [] },
  { project: 'p1', addresses: [1], topics: [] },
  { project: 'p1', addresses: [], topics: Array.from({ length: 101 }, String) },
])('rejects %j', (request) => {
  expect(() => presenceAnswer(source, request)).toThrow('needs a project')
})
