import type { LayoutLayer, RoomMember } from '@trunkline/client'
import { expect, it, onTestFinished } from 'vitest'
import { hasPicture, personsOf, screensOf, statesOf, tilesOf, unseenSpeakers } from './room-members.ts'
import { applyLanguage } from './texts/language.ts'

const person = (id: string, more: Partial<RoomMember> = {}): RoomMember => ({
  id,
  name: id,
  kind: 'member',
  ownerId: undefined,
  isSelf: false,
  isPhone: false,
  isVisible: true,
  isSharing: false,
  isOnHold: false,
  audioMuted: false,
  videoMuted: false,
  handRaised: false,
  talking: false,
  subscriberId: null,
  ...more,
})
const screen = person('screen', { kind: 'screen', ownerId: 'bob' })
const layer = (member_id: string | undefined, z_index: number): LayoutLayer => ({
  ...(member_id && { member_id }),
  z_index,
  layer_index: z_index,
  position: 'auto',
  x: 0,
  y: 0,
  width: 50,
  height: 50,
})
const layoutOf = (...layers: LayoutLayer[]) => ({ id: 'l', name: 'grid-responsive', layers })
const ids = (members: readonly RoomMember[]) => members.map(({ id }) => id)

it('the user comes first, then raised hands, then all others in their order', () => {
  const members = [
    person('bob'),
    screen,
    person('carol', { handRaised: true }),
    person('alice', { isSelf: true }),
    person('dana'),
  ]
  expect(ids(personsOf({ members }))).toEqual(['alice', 'carol', 'bob', 'dana'])
  expect(ids(screensOf({ members }))).toEqual(['screen'])
})

it('the states of a member are words, in the language of the page', async () => {
  const telephone = { isPhone: true, isVisible: false, audioMuted: true }
  const own = { isSelf: true, isVisible: false, handRaised: true, isSharing: true }
  expect(statesOf(person('bob'))).toBe('')
  expect(statesOf(person('carrier', telephone))).toBe('Telephone · Muted')
  expect(statesOf(person('alice', own))).toBe('You · Hand raised · Video off · Shares a screen')
  expect(statesOf(person('carol', { isOnHold: true, isVisible: false }))).toBe('On hold · Video off')
  onTestFinished(() => applyLanguage('en', []))
  await applyLanguage('de', [])
  expect(statesOf(person('carrier', telephone))).toBe('Telefon · Stumm')
})

it('the places of the picture are those of present members, the lowest first', () => {
  const members = [person('alice'), person('bob')]
  const layout = layoutOf(layer('bob', 1), layer(undefined, 0), layer('gone', 2), layer('alice', 0))
  expect(tilesOf({ members, layout }).map(({ member }) => member.id)).toEqual(['alice', 'bob'])
  expect(tilesOf({ members, layout: undefined })).toEqual([])
})

it('a film that is played is a picture, and hides the places below it', () => {
  const members = [person('alice', { talking: true }), person('bob')]
  const hidden = { ...layer('alice', 0), visible: false }
  const film = { ...layer(undefined, 1), playing_file: true }
  expect(hasPicture({ members, layout: undefined })).toBe(false)
  expect(hasPicture({ members, layout: layoutOf(hidden) })).toBe(false)
  expect(hasPicture({ members, layout: layoutOf(hidden, layer('bob', 1)) })).toBe(true)
  const layout = layoutOf(hidden, film, layer('bob', 2))
  expect(hasPicture({ members, layout: layoutOf(hidden, film) })).toBe(true)
  expect(tilesOf({ members, layout }).map(({ member }) => member.id)).toEqual(['bob'])
  expect(ids(unseenSpeakers({ members, layout }))).toEqual(['alice'])
})

it('who talks without a place in the picture is named', () => {
  const members = [
    person('alice', { talking: true }),
    person('bob'),
    person('carrier', { isPhone: true, talking: true }),
  ]
  expect(ids(unseenSpeakers({ members, layout: layoutOf(layer('alice', 0)) }))).toEqual(['carrier'])
})
