/** Browser in a conference: audio only, and every participant is a member. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { fakeLeg } from '../../calls/testing/fake-legs.ts'
import type { AnyFrame } from '../testing/test-browser.ts'
import { dialled, settled } from './testing/call-setup.ts'
import { SubscriberTestGateway, type TestPage } from './testing/subscriber-test-gateway.ts'

let gateway: SubscriberTestGateway

beforeEach(async () => {
  gateway = await SubscriberTestGateway.start()
})
afterEach(() => gateway.close())

/** Lets Alice join a conference. */
const inConference = async () => {
  const call = await dialled(gateway, '/public/lounge')
  call.media.report('connected')
  await call.leg.answer()
  const joined = await call.page.event('call.joined')
  return { ...call, joined, self: { member_id: joined.member_id, call_id: 'c1', node_id: joined.node_id } }
}

const telephone = (number: string) => {
  const { leg } = fakeLeg(gateway.clock, 'group', {
    direction: 'outbound',
    to: number,
  })
  leg.answered()
  return leg
}

const memberOf = async (page: TestPage, event: string) => (await page.event(event)).member as AnyFrame
const members = async (page: TestPage, self: object) =>
  (await page.ask('call.member.list', { self, target: self })).members as AnyFrame[]

describe('a browser in a conference', () => {
  it('receives who joins and leaves, and lists all members', async () => {
    const { page, leg, self } = await inConference()
    expect(await members(page, self)).toHaveLength(1)
    const one = telephone('+1555')
    const two = telephone('+1666')
    leg.gathered([one])
    expect(await memberOf(page, 'member.joined')).toMatchObject({ name: '+1555', type: 'member' })
    leg.gathered([one, two])
    expect(await memberOf(page, 'member.joined')).toMatchObject({ name: '+1666' })
    expect((await members(page, self)).map(({ name }) => name)).toEqual(['Alice', '+1555', '+1666'])
    leg.gathered([two])
    expect(await memberOf(page, 'member.left')).toMatchObject({ name: '+1555' })
    leg.gathered([])
    expect(await memberOf(page, 'member.left')).toMatchObject({ name: '+1666' })
    expect(await members(page, self)).toHaveLength(1)
  })

  it('is asked to close its camera if a handler took it there', async () => {
    const { page, leg, media } = await dialled(gateway, '/public/bob')
    media.report('connected')
    await leg.answer()
    await page.event('call.joined')
    media.video.change(true)
    leg.setPort(media.port, media.video)
    expect(await memberOf(page, 'member.updated')).toMatchObject({ visible: true, updated: ['visible'] })
    leg.gathered([telephone('+1555')])
    const updated = ['video_muted', 'visible']
    expect(await memberOf(page, 'member.updated')).toMatchObject({ video_muted: true, updated })
    leg.gathered([telephone('+1555'), telephone('+1666')])
    await settled(page)
    expect(page.story.filter((each) => each === 'member.updated')).toHaveLength(2)
  })

  it('that joins last receives the others in its first event', async () => {
    const { page, leg } = await dialled(gateway, '/public/lounge')
    leg.gathered([telephone('+1555')])
    void leg.answer()
    const joined = await page.event('call.joined')
    const named = (joined.room_session as { members: AnyFrame[] }).members.map(({ name }) => name)
    expect(named).toEqual(['Alice', '+1555'])
    await settled(page)
    expect(page.story).not.toContain('member.joined')
  })

  it('receives the mute of another browser, and cannot change it', async () => {
    const a = await inConference()
    const b = await gateway.online('bob')
    const { leg } = gateway.call('bob')
    await b.message('verto.invite')
    await b.verto('verto.answer', leg.id, { sdp: 'answer' })
    const { member_id } = await b.event('call.joined')
    a.leg.gathered([leg])
    leg.gathered([a.leg])
    const own = { member_id, call_id: leg.id, node_id: 'node-1' }
    await b.ask('call.mute', { self: own, target: own, channels: ['audio'] })
    const updated = { member_id, audio_muted: true, updated: ['audio_muted'] }
    expect(await memberOf(a.page, 'member.updated')).toMatchObject(updated)
    const target = { ...own, call_id: leg.id }
    expect(await a.page.ask('call.mute', { self: a.self, target, channels: ['audio'] })).toMatchObject({
      code: '403',
    })
  })
})

describe('a browser in a call of three', () => {
  it('receives each departure once, and keeps the person who stays', async () => {
    const { page, leg, self } = await inConference()
    const callee = telephone('+1555')
    const added = telephone('+1666')
    const story = async () => {
      await settled(page)
      return page.story.filter((each) => each.startsWith('member.'))
    }
    leg.paired(callee)
    leg.gathered([added])
    expect(await story()).toEqual(['member.joined', 'member.joined'])
    // The callee leaves, and the added person takes its place.
    leg.paired(added)
    leg.gathered([])
    expect(await story()).toEqual(['member.joined', 'member.joined', 'member.left'])
    expect(await memberOf(page, 'member.left')).toMatchObject({ name: '+1555' })
    expect((await members(page, self)).map(({ name }) => name)).toEqual(['Alice', '+1666'])
  })

  it('keeps its partner while a third party leaves', async () => {
    const { page, leg } = await inConference()
    const callee = telephone('+1555')
    const added = telephone('+1666')
    leg.gathered([callee, added])
    leg.paired(callee)
    leg.gathered([added])
    leg.gathered([])
    await settled(page)
    expect(page.story.filter((each) => each.startsWith('member.'))).toEqual([
      'member.joined',
      'member.joined',
      'member.left',
    ])
    expect(await memberOf(page, 'member.left')).toMatchObject({ name: '+1666' })
  })
})
