import { describe, expect, it } from 'vitest'
import type { CallRow } from '../calls/log/call-rows.ts'
import { describeEngines } from '../directory/testing/engines.ts'
import {
  callSummaryOf,
  legOf,
  openTestCdrStore,
  otherProject,
  ownProject,
  startedCall,
} from './testing/call-summaries.ts'

const page = { number: 0, size: 50 }

describeEngines('records', (engine) => {
  const openRecords = openTestCdrStore(async () => (await engine.open()).store)

  describe('a call', () => {
    it('is written down from its beginning to its end', async () => {
      const { records, store } = await openRecords()
      const call = startedCall({ document: 'https://app.example/menu' })
      records.began(call)
      records.changed(call.id, { status: 'ringing', ringingAt: 1_700_000_000_100 })
      await records.settled()
      expect(await records.find(ownProject, call.id)).toMatchObject({ ...call, status: 'ringing' })
      records.changed(call.id, { status: 'in-progress', answeredAt: 1_700_000_002_000, answeredBy: 'human' })
      records.ended(call.id, {
        status: 'completed',
        endedAt: 1_700_000_010_000,
        code: 'normal',
        sipStatus: 200,
      })
      await records.settled()
      const over: CallRow = {
        ...call,
        status: 'completed',
        ringingAt: 1_700_000_000_100,
        answeredAt: 1_700_000_002_000,
        endedAt: 1_700_000_010_000,
        answeredBy: 'human',
        code: 'normal',
        sipStatus: 200,
      }
      expect(await records.find(ownProject, call.id)).toEqual(over)
      expect(await records.list(ownProject, page)).toEqual({ items: [over], total: 1 })
      expect((await store.selectFrom('call').selectAll().execute()).length).toBe(1)
    })

    it('is known to its own project alone', async () => {
      const { records } = await openRecords()
      const call = startedCall()
      records.began(call)
      expect([
        await records.find(otherProject, call.id),
        (await records.list(otherProject, page)).items,
      ]).toEqual([undefined, []])
      records.ended(call.id, { status: 'failed', endedAt: 1_700_000_001_000 })
      expect([
        await records.find(otherProject, call.id),
        (await records.list(otherProject, page)).items,
      ]).toEqual([undefined, []])
      await expect(records.remove(otherProject, call.id)).rejects.toMatchObject({ code: 'unknown_call' })
      expect(await records.find(ownProject, call.id)).toBeDefined()
    })

    it('is written down without the password that a URI may have', async () => {
      const { records } = await openRecords()
      const call = startedCall({ to: 'sip:desk:secret@pbx.example' })
      records.began(call)
      records.ended(call.id, { status: 'failed', endedAt: 1_700_000_001_000 })
      expect((await records.find(ownProject, call.id))?.to).toBe('sip:desk@pbx.example')
    })

    it('is not created by a later change of an unknown call', async () => {
      const { records } = await openRecords()
      records.changed('x', { status: 'ringing' })
      records.ended('x', { status: 'failed', endedAt: 1 })
      await records.settled()
      expect(records.waiting).toBe(0)
      expect((await records.list(ownProject, page)).items).toEqual([])
    })
  })

  describe('lists of calls', () => {
    /** Calls a minute apart, the newest last; every third one to another callee, and busy. */
    const some = async (count: number) => {
      const made = await openRecords()
      const calls = Array.from({ length: count }, (_, i) =>
        startedCall({
          createdAt: 1_700_000_000_000 + i * 60_000,
          ...(i % 3 === 0 && { to: '/public/alice' }),
        }),
      )
      for (const [i, call] of calls.entries()) {
        made.records.began(call)
        const endedAt = call.createdAt + 30_000
        made.records.ended(call.id, { status: i % 3 === 0 ? 'busy' : 'completed', endedAt })
      }
      return { ...made, ids: calls.map(({ id }) => id).reverse() }
    }
    const ids = (list: { items: readonly CallRow[] }) => list.items.map(({ id }) => id)

    it('come in pages, the newest first', async () => {
      const { records, ids: all } = await some(5)
      const pages = []
      for (const number of [0, 1, 2, 3]) pages.push(await records.list(ownProject, { number, size: 2 }))
      expect(pages.map(ids)).toEqual([all.slice(0, 2), all.slice(2, 4), all.slice(4), []])
      // As many as it takes to know whether there is a further page.
      expect(pages.map(({ total }) => total)).toEqual([3, 5, 5, 6])
    })

    it('are of those that are asked for', async () => {
      const { records, ids: all } = await some(6)
      const asked = async (query: object) => ids(await records.list(ownProject, { ...page, ...query }))
      const busy = [all[2], all[5]]
      expect(await asked({ to: '/public/alice' })).toEqual(busy)
      expect(await asked({ status: 'busy' })).toEqual(busy)
      expect(await asked({ from: '+15550001111' })).toEqual(all)
      expect(await asked({ from: 'sip:+15550001111@carrier.example' })).toEqual(all)
      expect(await asked({ from: 'sip:+15550001111@other.example' })).toEqual([])
      expect(await asked({ startedFrom: 1_700_000_060_000, startedUntil: 1_700_000_180_000 })).toEqual([
        all[3],
        all[4],
      ])
      expect(await asked({ endedUntil: 1_700_000_090_001, status: 'completed' })).toEqual([all[4]])
      expect(await asked({ parentId: all[0] })).toEqual([])
    })

    it('are refused where too many would be passed over', async () => {
      const { records } = await openRecords()
      await expect(records.list(ownProject, { number: 1_001, size: 100 })).rejects.toMatchObject({
        code: 'invalid_field',
        facts: { attribute: 'page_number' },
      })
    })
  })

  describe('the record of a call', () => {
    it('is a row of its own and one of each leg, with how they were heard', async () => {
      const { records } = await openRecords()
      const counters = { octets: 0, sent: 0, sentOctets: 0 }
      const heard = { ...counters, received: 980, lost: 20, jitterMs: 15, mos: 4.1 } as never
      const worse = { ...counters, received: 450, lost: 50, jitterMs: 3, mos: 3.2 } as never
      const legs = [
        legOf({ audio: heard }),
        legOf({ role: 'callee', kind: 'browser', type: 'webrtc', audio: worse, carrier: undefined }),
      ]
      const record = callSummaryOf({ legs })
      records.keep(record)
      const { rows } = await records.part(ownProject, { kind: 'leg', callId: record.call }, 50)
      expect(rows).toMatchObject([
        { place: 0, role: 'caller', type: 'sip', carrier: 'telco', mos: 4.1, loss: 0.02, jitter_ms: 15 },
        { place: 1, role: 'callee', type: 'webrtc', carrier: null, mos: 3.2, loss: 0.1, jitter_ms: 3 },
      ])
      const call = await records.record(ownProject, 'call', record.call)
      expect(call).toMatchObject({
        kind: 'call',
        call_id: record.call,
        carrier: 'telco',
        domain: 'voice.example',
        mos: 3.2,
        loss: 0.1,
        jitter_ms: 15,
        code: 'normal',
        q850: 16,
        duration_ms: 10_000,
        answered_ms: 8_000,
        codec: 'PCMU',
      })
      expect(JSON.parse(call?.record_json ?? '')).toEqual(JSON.parse(JSON.stringify(record)))
      expect(await records.record(otherProject, 'call', record.call)).toBeUndefined()
      expect(await records.record(ownProject, 'leg', record.call)).toBeUndefined()
    })

    it('is one of a list, which comes in parts', async () => {
      const { records } = await openRecords()
      const all = [3, 2, 2, 1, 0].map((second) => {
        const record = callSummaryOf({ startedAt: 1_700_000_000_000 + second * 1000, legs: [] })
        records.keep(record)
        return record.call
      })
      const search = { kind: 'call', fromUser: '+15550001111', minDurationMs: 10_000 } as const
      const seen: string[] = []
      let part = await records.part(ownProject, search, 2)
      seen.push(...part.rows.map(({ id }) => id))
      while (part.next) {
        part = await records.part(ownProject, search, 2, part.next)
        seen.push(...part.rows.map(({ id }) => id))
      }
      expect([seen[0], seen[3], seen[4], new Set(seen)]).toEqual([all[0], all[3], all[4], new Set(all)])
      expect((await records.part(otherProject, search, 2)).rows).toEqual([])
    })

    it('is not asked for by what is no id', async () => {
      const { records } = await openRecords()
      for (const id of ['x', '\0', "' or 1=1 --", 'a'.repeat(10_000)])
        expect([await records.find(ownProject, id), await records.record(ownProject, 'call', id)]).toEqual([
          undefined,
          undefined,
        ])
      await expect(records.remove(ownProject, '\0')).rejects.toMatchObject({ code: 'unknown_call' })
    })

    it('is written once', async () => {
      const { records, store } = await openRecords()
      const record = callSummaryOf()
      records.keep(record)
      await records.settled()
      records.keep(record)
      await records.settled()
      expect((await store.selectFrom('cdr').select('id').execute()).length).toBe(3)
    })

    it('goes with its call, also where it comes later', async () => {
      const { records, store } = await openRecords()
      const call = startedCall()
      records.began(call)
      await expect(records.remove(ownProject, call.id)).rejects.toMatchObject({ code: 'call_in_progress' })
      records.ended(call.id, { status: 'completed', endedAt: 1_700_000_001_000 })
      const record = callSummaryOf({ call: call.id })
      records.keep(record)
      await records.remove(ownProject, call.id)
      records.keep(record)
      await records.settled()
      expect(await store.selectFrom('cdr').select('id').execute()).toEqual([])
      await expect(records.remove(ownProject, call.id)).rejects.toMatchObject({ code: 'unknown_call' })
    })
  })

  describe('old calls and records', () => {
    it('are removed in portions, as long as they are kept, and counted', async () => {
      const { records, clock, metrics, store } = await openRecords()
      const old = clock.now() - 40_000_000
      for (let i = 0; i < 450; i++) {
        const call = startedCall({ createdAt: i < 430 ? old : clock.now() })
        records.began(call)
        records.ended(call.id, { status: 'completed', endedAt: call.createdAt + 1 })
      }
      records.keep(callSummaryOf({ startedAt: old, legs: [] }))
      records.keep(callSummaryOf({ startedAt: clock.now(), legs: [] }))
      await records.settled()
      for (let hours = 0; hours < 15; hours++) {
        clock.advance(3_600_000)
        await expect.poll(() => clock.running, { interval: 5, timeout: 20_000 }).toBe(1)
      }
      expect((await store.selectFrom('call').select('id').execute()).length).toBe(20)
      expect((await store.selectFrom('cdr').select('id').execute()).length).toBe(1)
      expect(records.kept).toBe(21)
      expect((await metrics.recordsRemoved.get()).values).toMatchObject([{ value: 431 }])
    })
  })
})
