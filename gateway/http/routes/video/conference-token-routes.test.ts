import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sampleGrant } from '../../../auth/testing/sample-grant.ts'
import { defaultPermissions, roomPermissions } from '../../../rooms/permissions.ts'
import { type Answer, ApiTestSite, attributes, theirs } from '../../testing/api-test-site.ts'

const conferences = '/api/video/conferences'
const url = '/api/video/conference_tokens'
let rig: ApiTestSite

beforeAll(async () => {
  rig = await ApiTestSite.open()
})
afterAll(() => rig.close())

/** Creates a conference, and returns its tokens: those of moderators and of guests. */
const tokensOf = async (display_name: string) => {
  const { id } = await rig.make(conferences, { display_name })
  return { id, tokens: (await rig.send('GET', `${conferences}/${id}/conference_tokens`)).body.data }
}

/** Exchanges a token without credentials. */
const exchange = async (body: object, remoteAddress = '203.0.113.7') => {
  const answer = await rig.site.inject({
    method: 'POST',
    url: `${url}/exchange`,
    payload: body,
    remoteAddress,
  })
  return { status: answer.statusCode, headers: answer.headers, body: answer.json() }
}

const codeOf = ({ status, body }: Answer) => [status, body.errors[0]?.code]

describe('tokens of a conference', () => {
  it('are one for moderators and one for guests, the same in each list', async () => {
    const { id, tokens } = await tokensOf('Board meeting')
    const text = expect.stringMatching(/^vpt_[\w-]{64}$/)
    expect(tokens).toEqual([
      { id: tokens[0].id, name: 'moderator', token: text, scopes: roomPermissions },
      { id: tokens[1].id, name: 'guest', token: text, scopes: defaultPermissions },
    ])
    expect(tokens[0].token).not.toBe(tokens[1].token)
    const list = `${conferences}/board-meeting/conference_tokens`
    const again = await rig.ask('GET', list)
    expect(again.json()).toMatchObject({ data: tokens, links: { self: expect.stringContaining(list) } })
    expect(again.headers['cache-control']).toBe('no-store')
    expect((await rig.send('GET', `${list}?page_size=1`)).body.data).toEqual([tokens[0]])
    expect((await rig.send('GET', `${url}/${tokens[1].id}`)).body).toEqual(tokens[1])
    await rig.send('DELETE', `${conferences}/${id}`)
    expect((await rig.send('GET', `${url}/${tokens[1].id}`)).status).toBe(404)
  })

  it('are exchanged for room tokens with the scopes of their kind', async () => {
    const { id, tokens } = await tokensOf('Town hall')
    const [moderator, guest] = tokens
    const made = await exchange({ token: moderator.token, user_name: 'Vera' })
    expect([made.status, made.headers['cache-control']]).toEqual([201, 'no-store'])
    const { grant, expiresAt, projectId } = await rig.roomTokens.verify(made.body.token)
    const rights = sampleGrant({ room: 'town-hall', roomId: id, userName: 'Vera', mayCreateRoom: false })
    expect(grant).toEqual({ ...rights, permissions: roomPermissions })
    expect([projectId, expiresAt]).toEqual(['p1', Math.floor(rig.clock.now() / 1000) + 86_400])
    const second = await rig.roomTokens.verify((await exchange({ token: guest.token })).body.token)
    expect(second.grant).toEqual({ ...rights, userName: '', permissions: defaultPermissions })
  })

  it('are named in the log with each room token and the network, without a text', async () => {
    const { id, tokens } = await tokensOf('Logged')
    rig.lines.length = 0
    const text = (await exchange({ token: tokens[1].token })).body.token
    const made = await rig.roomTokens.verify(text)
    const line = rig.lines.find((each) => each.includes('room.token-exchanged'))!
    expect(JSON.parse(line)).toMatchObject({
      project: 'p1',
      room: id,
      conferenceToken: tokens[1].id,
      roomToken: made.id,
      network: '203.0.113.7',
    })
    for (const secret of [tokens[1].token, text]) expect(rig.lines.join('')).not.toContain(secret)
  })

  it('admit to the room at its present address', async () => {
    const { id, tokens } = await tokensOf('Moving')
    const room = { context: 'private', name: 'moved' }
    await rig.directory.resources.update('p1', 'room', id, room)
    const { body } = await exchange({ token: tokens[0].token })
    expect((await rig.roomTokens.verify(body.token)).grant.room).toBe('/private/moved')
  })

  it('have no scopes that need ffmpeg without it', async () => {
    rig.hasFfmpeg = false
    const { tokens } = await tokensOf('Silent film')
    expect(tokens[0].scopes).not.toContain('room.stream')
    const { body } = await exchange({ token: tokens[0].token })
    expect((await rig.roomTokens.verify(body.token)).grant.permissions).toEqual(tokens[0].scopes)
    rig.hasFfmpeg = true
  })

  it('are invalid after a reset, with the room tokens that were made from them', async () => {
    const { id, tokens } = await tokensOf('Reset')
    const [moderator, guest] = tokens
    const former = (await exchange({ token: guest.token, user_name: 'Vera' })).body.token
    const other = (await exchange({ token: moderator.token })).body.token
    const reset = await rig.send('POST', `${url}/${guest.id}/reset`)
    expect(reset).toMatchObject({ status: 200, body: { ...guest, token: expect.stringMatching(/^vpt_/) } })
    expect(reset.body.token).not.toBe(guest.token)
    const { data } = (await rig.send('GET', `${conferences}/${id}/conference_tokens`)).body
    expect(data).toEqual([moderator, reset.body])

    const refused = await exchange({ token: guest.token })
    expect(codeOf(refused)).toEqual([403, 'bad_conference_token'])
    expect(refused.body.errors[0]).toMatchObject({
      attribute: 'token',
      message: 'The conference token is not valid, or was reset.',
    })
    await expect(rig.roomTokens.verify(former)).rejects.toMatchObject({
      code: 'unauthorized',
      message: expect.stringContaining('revoked'),
    })
    await rig.roomTokens.verify(other)
    const made = await exchange({ token: reset.body.token, user_name: 'Vera' })
    await rig.roomTokens.verify(made.body.token)
  })

  it('are reset by tokens/revoke of their project, which does not tell whether a text is valid', async () => {
    const { id, tokens } = await tokensOf('Leaked')
    const [{ token }, guest] = tokens
    const revoke = (text: string, as?: typeof theirs) =>
      rig.send('POST', '/api/fabric/subscribers/tokens/revoke', { token: text }, as)
    const made = (await exchange({ token })).body.token
    expect((await revoke(token, theirs)).status).toBe(204)
    await rig.roomTokens.verify(made)
    for (let i = 0; i < 2; i++) expect((await revoke(token)).status).toBe(204)
    expect(codeOf(await exchange({ token }))).toEqual([403, 'bad_conference_token'])
    await expect(rig.roomTokens.verify(made)).rejects.toMatchObject({ code: 'unauthorized' })
    const { data } = (await rig.send('GET', `${conferences}/${id}/conference_tokens`)).body
    expect(data).toEqual([{ ...tokens[0], token: expect.stringMatching(/^vpt_/) }, guest])
    expect((await exchange({ token: data[0].token })).status).toBe(201)
  })

  it('are rejected if they are unknown, changed, or of a conference that is gone', async () => {
    const { id, tokens } = await tokensOf('Gone')
    const { token } = tokens[0]
    const middle = token.at(40) === 'A' ? 'B' : 'A'
    const wrong = [
      'x',
      'vpt_',
      token.slice(0, -1),
      `${token}A`,
      `${token.slice(0, 40)}${middle}${token.slice(41)}`,
      token.replace('vpt_', 'VPT_'),
    ]
    for (const text of wrong)
      expect(codeOf(await exchange({ token: text }))).toEqual([403, 'bad_conference_token'])
    await rig.send('DELETE', `${conferences}/${id}`)
    expect(codeOf(await exchange({ token }))).toEqual([403, 'bad_conference_token'])
    expect(attributes(await exchange({}))).toEqual(['token'])
    expect(attributes(await exchange({ token, user_name: 'x'.repeat(101) }))).toEqual(['user_name'])
  })

  it('belong to their project, and need its permission for tokens', async () => {
    const { id, tokens } = await tokensOf('Ours')
    for (const [method, path] of [
      ['GET', `${conferences}/${id}/conference_tokens`],
      ['GET', `${url}/${tokens[0].id}`],
      ['POST', `${url}/${tokens[0].id}/reset`],
    ] as const)
      expect(codeOf(await rig.send(method, path, undefined, theirs))).toEqual([404, 'unknown_resource'])
    for (const unknown of [randomUUID(), 'x'])
      expect((await rig.send('POST', `${url}/${unknown}/reset`)).status).toBe(404)
    expect((await rig.send('GET', `${url}/${tokens[0].id}`)).body).toEqual(tokens[0])
    const limited = { name: 'reader', permissions: ['resources'] }
    const { token } = await rig.make('/api/project/tokens', limited)
    const reader = { id: 'p1', apiToken: token }
    const refused = await rig.send('GET', `${url}/${tokens[0].id}`, undefined, reader)
    expect(codeOf(refused)).toEqual([403, 'insufficient_scope'])
  })

  it('are exchanged by one network 300 times per minute at most', async () => {
    const { token } = (await tokensOf('Busy')).tokens[0]
    for (let i = 0; i < 300; i++) expect((await exchange({ token })).status).toBe(201)
    const refused = await exchange({ token })
    expect(codeOf(refused)).toEqual([429, 'too_many_requests'])
    expect(refused.headers['retry-after']).toBe('60')
    expect((await exchange({ token }, '198.51.100.1')).status).toBe(201)
    rig.clock.advance(60_000)
    expect((await exchange({ token })).status).toBe(201)
  })
})
