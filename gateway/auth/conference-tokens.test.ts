import { describe, expect, it } from 'vitest'
import { FakeClock } from '../core/clock.ts'
import { TestStore } from '../directory/testing/directories.ts'
import { openTokens } from './open-tokens.ts'
import { sampleGrant } from './testing/sample-grant.ts'

const store = new TestStore()
const project = 'project-1'
const network = '203.0.113.0'

/** Gateways with these secrets, on one database with a room. */
const opened = async (...secrets: readonly number[]) => {
  const directory = await store.open()
  const clock = new FakeClock(1_700_000_000_000)
  const room = await directory.resources.create({
    projectId: project,
    type: 'room',
    displayName: 'Lounge',
    details: { recordOnStart: false },
  })
  const open = (byte: number) => openTokens(directory, { secret: new Uint8Array(32).fill(byte), clock })
  return { directory, clock, room, gateways: await Promise.all(secrets.map(open)) }
}

describe('tokens of conferences', () => {
  it('are valid at each gateway with the same secret, and at no other', async () => {
    const { room, gateways } = await opened(1, 1, 2)
    const [own, same, other] = gateways.map(({ conferenceTokens }) => conferenceTokens)
    const { id, token } = (await own!.ofRoom(project, room.id))[0]!
    expect(await same!.exchange(token, network)).toMatchObject({ found: { id, name: 'moderator' } })
    expect((await same!.find(project, id)).token).toBe(token)
    expect((await other!.find(project, id)).token).not.toBe(token)
    expect(await other!.exchange(token, network)).toEqual({ found: undefined })
  })

  it('are not in the store', async () => {
    const { directory, room, gateways } = await opened(1)
    const [token] = await gateways[0]!.conferenceTokens.ofRoom(project, room.id)
    const rows = await directory.store.selectFrom('conference_token').selectAll().execute()
    expect(JSON.stringify(rows)).not.toContain(token!.token.slice(30))
  })

  it('revoke by a reset what was made from the former text, for as long as it is valid', async () => {
    const { clock, room, gateways } = await opened(1)
    const { conferenceTokens, roomTokens } = gateways[0]!
    const { id, version } = (await conferenceTokens.ofRoom(project, room.id))[0]!
    const made = await roomTokens.issue(project, sampleGrant(), 86_400, version)
    expect((await roomTokens.verify(made.token)).source).toBe(version)
    clock.advance(3_600_000)
    const reset = await conferenceTokens.reset(project, id)
    await expect(roomTokens.verify(made.token)).rejects.toThrow('revoked')
    clock.advance(82_000_000)
    await expect(roomTokens.verify(made.token)).rejects.toThrow('revoked')
    const next = await roomTokens.issue(project, sampleGrant(), 86_400, reset.version)
    expect((await roomTokens.verify(next.token)).source).toBe(reset.version)
  })

  it('are reset together by simultaneous requests', async () => {
    const { room, gateways } = await opened(1)
    const { conferenceTokens } = gateways[0]!
    const [token] = await conferenceTokens.ofRoom(project, room.id)
    const resets = await Promise.all([1, 2].map(() => conferenceTokens.reset(project, token!.id)))
    const present = await conferenceTokens.find(project, token!.id)
    expect(resets.at(-1)).toEqual(present)
    expect(await conferenceTokens.exchange(token!.token, network)).toEqual({ found: undefined })
    expect(await conferenceTokens.exchange(present.token, network)).toMatchObject({
      found: { id: present.id },
    })
  })

  it('of another project are unknown', async () => {
    const { room, gateways } = await opened(1)
    const { conferenceTokens } = gateways[0]!
    const [token] = await conferenceTokens.ofRoom(project, room.id)
    for (const act of ['find', 'reset'] as const)
      await expect(conferenceTokens[act]('project-2', token!.id)).rejects.toMatchObject({
        code: 'unknown_resource',
      })
  })
})
