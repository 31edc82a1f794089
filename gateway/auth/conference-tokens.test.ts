import { sql } from 'kysely'
import { describe, expect, it, vi } from 'vitest'
import { FakeClock } from '../core/clock.ts'
import { TestStore } from '../directory/testing/directories.ts'
import type { ConferenceToken as Token } from './conference-tokens.ts'
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
  return { directory, clock, room, open, gateways: await Promise.all(secrets.map(open)) }
}

/** Returns a text with another last character. */
const changed = (text: string): string => text.slice(0, -1) + (text.endsWith('-') ? '_' : '-')

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
    const { clock, room, open, gateways } = await opened(1)
    const { conferenceTokens, roomTokens } = gateways[0]!
    const { id, version } = (await conferenceTokens.ofRoom(project, room.id))[0]!
    const made = await roomTokens.issue(project, sampleGrant(), 86_400, version)
    expect((await roomTokens.verify(made.token)).source).toBe(version)
    clock.advance(3_600_000)
    const reset = await conferenceTokens.reset(project, id)
    await expect(roomTokens.verify(made.token)).rejects.toThrow('revoked')
    // The token is valid for five minutes more. A gateway that starts now reads the revocation.
    clock.advance(86_400_000 - 3_600_000 - 300_000)
    for (const tokens of [roomTokens, (await open(1)).roomTokens])
      await expect(tokens.verify(made.token)).rejects.toThrow('revoked')
    const next = await roomTokens.issue(project, sampleGrant(), 86_400, reset.version)
    expect((await roomTokens.verify(next.token)).source).toBe(reset.version)
  })

  it('are reset by the revocation of their text, and only by that of the present one', async () => {
    const { room, gateways } = await opened(1)
    const { conferenceTokens, roomTokens, pairs } = gateways[0]!
    const [former, other] = (await conferenceTokens.ofRoom(project, room.id)) as [Token, Token]
    const made = await roomTokens.issue(project, sampleGrant(), 86_400, former.version)
    const wrong = changed(former.token)
    await pairs.revoke(former.token, 'project-2')
    for (const text of [wrong, 'vpt_']) await pairs.revoke(text, project)
    expect(await conferenceTokens.ofRoom(project, room.id)).toEqual([former, other])
    await roomTokens.verify(made.token)

    await pairs.revoke(former.token, project)
    expect(await conferenceTokens.exchange(former.token, network)).toEqual({ found: undefined })
    await expect(roomTokens.verify(made.token)).rejects.toThrow('revoked')
    const present = await conferenceTokens.ofRoom(project, room.id)
    expect(present).toMatchObject([{ id: former.id }, other])
    expect(present[0]!.token).not.toBe(former.token)
    await pairs.revoke(former.token, project)
    expect(await conferenceTokens.ofRoom(project, room.id)).toEqual(present)
  })

  it('stay as they are if a room token that was made from them is revoked', async () => {
    const { room, gateways } = await opened(1)
    const { conferenceTokens, roomTokens, pairs } = gateways[0]!
    const { version, token } = (await conferenceTokens.ofRoom(project, room.id))[0]!
    const issue = () => roomTokens.issue(project, sampleGrant(), 86_400, version)
    const [revoked, other] = await Promise.all([issue(), issue()])
    await pairs.revoke(revoked.token, project)
    await expect(roomTokens.verify(revoked.token)).rejects.toThrow('revoked')
    await roomTokens.verify(other.token)
    expect(await conferenceTokens.exchange(token, network)).toMatchObject({ found: { version } })
  })

  it('stay as they are if a reset fails', async () => {
    const { directory, room, gateways } = await opened(1)
    const { conferenceTokens, roomTokens } = gateways[0]!
    const former = (await conferenceTokens.ofRoom(project, room.id))[0]!
    const made = await roomTokens.issue(project, sampleGrant(), 86_400, former.version)
    const refusals = ['update on conference_token', 'insert on revoked_token']
    for (const refused of refusals) {
      const trigger = `create trigger refusal before ${refused} begin select raise(abort, 'refused'); end`
      await sql.raw(trigger).execute(directory.store)
      await expect(conferenceTokens.reset(project, former.id)).rejects.toThrow('refused')
      await sql.raw('drop trigger refusal').execute(directory.store)
      expect(await conferenceTokens.find(project, former.id)).toEqual(former)
      await roomTokens.verify(made.token)
    }
    const reset = await conferenceTokens.reset(project, former.id)
    expect(reset.token).not.toBe(former.token)
    await expect(roomTokens.verify(made.token)).rejects.toThrow('revoked')
  })

  it('are exchanged 1,000 times per minute at most by all networks', async () => {
    const { clock, directory, room, gateways } = await opened(1)
    const { conferenceTokens } = gateways[0]!
    const [{ token }, other] = (await conferenceTokens.ofRoom(project, room.id)) as [Token, Token]
    for (let i = 0; i < 1_000; i++)
      expect(await conferenceTokens.exchange(token, `198.51.100.${i % 250}`)).toHaveProperty('found.id')
    const queries = vi.spyOn(directory.store, 'selectFrom')
    expect(await conferenceTokens.exchange(token, network)).toEqual({ waitMs: 60_000 })
    expect(queries).not.toHaveBeenCalled()
    expect(await conferenceTokens.exchange(other.token, network)).toMatchObject({ found: { id: other.id } })
    clock.advance(60_000)
    expect(await conferenceTokens.exchange(token, network)).toHaveProperty('found.id')
  })

  it('are not looked for after 300 wrong texts of a network in a minute', async () => {
    const { clock, directory, room, gateways } = await opened(1)
    const { conferenceTokens } = gateways[0]!
    const { id, token } = (await conferenceTokens.ofRoom(project, room.id))[0]!
    const wrong = changed(token)
    for (let i = 0; i < 300; i++)
      expect(await conferenceTokens.exchange(wrong, network)).toEqual({ found: undefined })
    const queries = vi.spyOn(directory.store, 'selectFrom')
    for (const text of [wrong, token, 'x'])
      expect(await conferenceTokens.exchange(text, network)).toEqual({ waitMs: 60_000 })
    expect(queries).not.toHaveBeenCalled()
    expect(await conferenceTokens.exchange(token, '198.51.100.1')).toMatchObject({ found: { id } })
    clock.advance(60_000)
    expect(await conferenceTokens.exchange(token, network)).toMatchObject({ found: { id } })
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
