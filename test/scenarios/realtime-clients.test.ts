/** Realtime clients of customers' applications, which receive and place calls at one gateway. */
import { afterAll, afterEach, beforeAll } from 'vitest'
import { application } from '../support/applications.ts'
import { Gateway } from '../support/gateway.ts'
import { realtime3 } from './groups/realtime-3.ts'
import { realtimeOwn } from './groups/realtime-own.ts'

let gateway: Gateway

beforeAll(async () => {
  const office = application('office.test', { kind: 'realtime', topic: 'office' })
  gateway = await Gateway.start({ domains: [office] })
})
afterEach(() => gateway.settled())
afterAll(() => gateway?.stop())

realtime3(() => gateway)
realtimeOwn(() => gateway)
