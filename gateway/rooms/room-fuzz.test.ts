import assert from 'node:assert/strict'
import fc from 'fast-check'
import { it } from 'vitest'
import { TrunklineError } from '../core/errors/catalogue.ts'
import { layoutNames } from './layouts/layout-names.ts'
import type { Layout, RoomEvent, RoomMember, RoomMemberState } from './room-types.ts'
import { SampleRoom } from './testing/sample-room.ts'

const ids = ['A', 'B', 'C', 'D', 'E', 'F'] as const
const screens = ['S', 'T'] as const
const all = [...ids, ...screens] as const

const anId = fc.constantFrom(...all)
const position = fc.constantFrom<string>(
  'auto',
  'off-canvas',
  'playback',
  'full-screen',
  'standard-1',
  'standard-2',
  'standard-5',
  'reserved-1',
  'sofa',
)

const state: fc.Arbitrary<Partial<RoomMemberState>> = fc.record(
  {
    audio_muted: fc.boolean(),
    video_muted: fc.boolean(),
    deaf: fc.boolean(),
    handraised: fc.boolean(),
    input_volume: fc.integer({ min: -50, max: 50 }),
  },
  { requiredKeys: [] },
)

type Step = (room: SampleRoom) => void

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .record({
        id: fc.constantFrom(...ids),
        isPhone: fc.boolean(),
        hasVideo: fc.boolean(),
        state,
        requestedPosition: position,
      })
      .map(
        ({ id, ...options }): Step =>
          (room) => {
            if (!room.session.member(id)) room.join(id, options)
          },
      ),
  },
  {
    weight: 4,
    arbitrary: fc
      .record({
        id: fc.constantFrom(...screens),
        parentId: anId,
        type: fc.constantFrom('screen' as const, 'device' as const),
        hasVideo: fc.boolean(),
        requestedPosition: position,
        layout: fc.option(fc.constantFrom(...layoutNames, 'mosaic'), { nil: undefined }),
      })
      .map(
        ({ id, ...options }): Step =>
          (room) => {
            if (!room.session.member(id)) room.join(id, options)
          },
      ),
  },
  anId.map(
    (id): Step =>
      ({ session }) =>
        session.leave(id, 'left'),
  ),
  anId.map(
    (id): Step =>
      ({ session }) =>
        session.remove(id),
  ),
  {
    weight: 3,
    arbitrary: fc.record({ id: anId, state, by: fc.option(anId, { nil: undefined }) }).map(
      ({ id, state, by }): Step =>
        ({ session }) =>
          void session.change(id, state, by),
    ),
  },
  {
    weight: 3,
    arbitrary: fc.tuple(anId, fc.boolean()).map(
      ([id, is]): Step =>
        (room) =>
          room.session.setHasVideo(id, is),
    ),
  },
  fc.tuple(anId, fc.boolean()).map(
    ([id, is]): Step =>
      (room) =>
        room.session.setHeld(id, is),
  ),
  {
    weight: 4,
    arbitrary: fc.tuple(anId, fc.boolean(), fc.boolean()).map(
      ([id, isTalking, hasVoice]): Step =>
        (room) =>
          room.session.setTalking(id, isTalking, isTalking && hasVoice),
    ),
  },
  {
    weight: 4,
    arbitrary: fc.nat(2500).map(
      (ms): Step =>
        ({ clock }) =>
          clock.advance(ms),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(anId, position).map(
      ([id, to]): Step =>
        (room) =>
          room.session.setPositions({ [id]: to }),
    ),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom(...layoutNames, 'mosaic'), fc.dictionary(anId, position, { maxKeys: 2 }))
      .map(
        ([name, positions]): Step =>
          ({ session }) =>
            session.setLayout(name, positions),
      ),
  },
  fc.constantFrom('speaker' as const, 'composed' as const).map(
    (kind): Step =>
      (room) =>
        room.session.setPictureKind(kind),
  ),
  fc.boolean().map(
    (is): Step =>
      ({ session }) =>
        session.setLocked(is),
  ),
  fc.boolean().map(
    (is): Step =>
      ({ session }) =>
        session.setVideoMutedHidden(is),
  ),
  fc.boolean().map(
    (is): Step =>
      ({ session }) =>
        session.setHandraisePrioritized(is),
  ),
)

const idsIn = ({ layers }: Layout): readonly string[] => layers.flatMap(({ memberId }) => memberId ?? [])

const isOnCanvas = ({ isVisible, requestedPosition }: RoomMember): boolean =>
  isVisible && requestedPosition !== 'off-canvas'

/** Checks the picture in force against the members. */
const checkPicture = ({ session, picture }: SampleRoom): void => {
  const shown = session.members.filter(isOnCanvas)
  if (!picture) return
  if (picture.kind === 'composed') {
    const present = picture.layers.map(({ memberId }) => session.member(memberId))
    assert.ok(!present.includes(undefined))
    for (const [at, layer] of picture.layers.entries()) assert.equal(layer.isVisible, present[at]?.isVisible)
    return
  }
  const { main, other } = picture
  assert.equal(main !== undefined, shown.length > 0)
  for (const id of [main, other]) if (id !== undefined) assert.ok(shown.some((each) => each.id === id))
  const screen = shown.findLast(({ type }) => type === 'screen')
  if (screen) assert.deepEqual([main, other], [screen.id, undefined])
  else assert.equal(other !== undefined, shown.length > 1)
  assert.equal(main === undefined || main !== other, true)
}

/** Checks the layouts of all viewers against the members and the picture. */
const checkLayouts = ({ session, picture }: SampleRoom): void => {
  for (const viewer of [undefined, ...session.members]) {
    const layout = session.layoutFor(viewer?.id)
    const shown = idsIn(layout)
    assert.equal(new Set(shown).size, shown.length)
    for (const { memberId, isVisible } of layout.layers)
      if (memberId !== undefined) assert.equal(session.member(memberId)?.isVisible, isVisible)
    assert.ok(session.layouts.includes(layout.name))
    for (const each of session.members)
      assert.equal(session.positionOf(each.id, viewer?.id) !== 'off-canvas', shown.includes(each.id))
    if (picture?.kind === 'composed') {
      assert.deepEqual(shown.toSorted(), picture.layers.map(({ memberId }) => memberId).toSorted())
      const places = layout.layers.length - (layout.name === 'full-screen' ? 1 : 2)
      const visible = session.members.filter(isOnCanvas).map(({ id }) => id)
      const tiles = session.members.filter((each) => each.hasVideo && each.requestedPosition !== 'off-canvas')
      if (tiles.length <= places)
        assert.deepEqual(
          visible.filter((id) => !shown.includes(id)),
          [],
        )
    } else if (picture && viewer?.type === 'member' && !viewer.isPhone) {
      const seen = picture.main === viewer.id ? (picture.other ?? viewer.id) : picture.main
      if (seen !== undefined) assert.ok(shown.includes(seen))
      assert.ok(shown.length <= 2)
    }
  }
}

/** Keeps a view of the members by events alone, and checks each event against it. */
class Follower {
  readonly present = new Map<string, RoomMember>()
  readonly talking = new Set<string>()
  isEnded = false

  readonly receive = (event: RoomEvent): void => {
    assert.equal(this.isEnded, false)
    if (event.kind === 'room.ended') this.isEnded = true
    if (!('member' in event)) return
    const { kind, member } = event
    assert.equal(this.present.has(member.id), kind !== 'member.joined')
    if (member.parentId !== undefined && kind !== 'member.left')
      assert.equal(this.present.has(member.parentId), true)
    if (kind === 'member.joined') this.present.set(member.id, member)
    if (kind === 'member.updated') assert.ok(event.updated.length > 0)
    if (kind === 'member.talking' && member.isTalking) this.talking.add(member.id)
    else if (kind === 'member.talking') this.talking.delete(member.id)
    if (kind === 'member.left') {
      this.present.delete(member.id)
      this.talking.delete(member.id)
    }
  }
}

const layoutsOf = ({ session }: SampleRoom): ReadonlyMap<string, string> =>
  new Map(
    session.members
      .filter(({ type, isPhone }) => type === 'member' && !isPhone)
      .map(({ id }) => [id, JSON.stringify(session.layoutFor(id))]),
  )

/** Checks that the layouts changed if and only if an event said so. */
const checkChanges = (before: ReadonlyMap<string, string>, room: SampleRoom, isTimed: boolean): void => {
  const after = layoutsOf(room)
  const hasChanged = [...after].some(([id, layout]) => before.has(id) && before.get(id) !== layout)
  const events = room.takeEvents().filter((event) => event === 'layout.changed').length
  if (hasChanged) assert.ok(events > 0)
  // Several changes within one step may cancel each other out.
  else if (!isTimed) assert.equal(events, 0)
}

const run = (
  steps: readonly Step[],
  limits: { readonly removeAfterMs?: number },
  isComposed: boolean,
): void => {
  const room = new SampleRoom({ maxMembers: 6, ...limits }, isComposed ? 'composed' : 'speaker')
  const follower = new Follower()
  room.session.listen(follower.receive)
  for (const id of ['A', 'B', 'C']) room.join(id)
  room.takeEvents()
  for (const each of steps) {
    const before = layoutsOf(room)
    const sizeBefore = room.session.size
    const now = room.clock.now()
    const pictures = room.pictures.length
    try {
      each(room)
    } catch (error) {
      if (!(error instanceof TrunklineError)) throw error
      assert.equal(room.session.size, sizeBefore)
      assert.equal(room.pictures.length, pictures)
    }
    assert.deepEqual(
      [...follower.present.keys()],
      room.session.members.map(({ id }) => id),
    )
    assert.deepEqual(
      [...follower.talking].toSorted(),
      room.session.members
        .filter(({ isTalking }) => isTalking)
        .map(({ id }) => id)
        .toSorted(),
    )
    assert.ok(room.session.size <= 6)
    assert.equal(room.session.isEnded, follower.isEnded)
    checkPicture(room)
    checkLayouts(room)
    checkChanges(before, room, now !== room.clock.now() || room.session.size < sizeBefore - 1)
    const sent = room.pictures.slice(Math.max(0, pictures - 1)).map((picture) => JSON.stringify(picture))
    assert.deepEqual(
      sent.filter((picture, at) => picture === sent[at - 1]),
      [],
    )
    if (room.session.isEnded) assert.equal(room.clock.running, 0)
  }
  room.session.end()
  assert.equal(follower.isEnded, true)
  assert.equal(follower.present.size, 0)
  assert.equal(room.clock.running, 0)
  assert.deepEqual(room.errors, [])
}

it.each([
  ['one camera', false],
  ['a composed picture', true],
])('a room with %s keeps its rules in any order of operations', (_, isComposed) => {
  const limits = fc.record({ removeAfterMs: fc.integer({ min: 1, max: 20_000 }) }, { requiredKeys: [] })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60, size: 'max' }), limits, (steps, limit) =>
      run(steps, limit, isComposed),
    ),
    { numRuns: 150 },
  )
})
