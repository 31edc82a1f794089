import type { ConversationWorld } from './conversation-world.ts'

/** Something that happens in a conversation; `n` chooses how, 0 to 7. */
export interface Move {
  readonly kind: string
  readonly n: number
}

const waits = [20, 60, 240, 700, 1400, 2000, 6000, 16_000]

/** The caller says words, and the engine or the conversation ends the turn. */
const turn = async (world: ConversationWorld, n: number): Promise<void> => {
  const { actor } = world
  const isIts = actor?.link.abilities.turns === 'its'
  world.voice(true)
  if (isIts) actor.link.listener.onTurn('began')
  await world.passes(200)
  actor?.hear(Array.from({ length: 1 + (n % 3) }, world.word).join(' '))
  world.voice(false)
  await world.passes(n % 2 ? 1000 : 100)
}

/** Carries out one move. */
export const carryOut = (world: ConversationWorld, { kind, n }: Move): unknown => {
  const { conversation, actor } = world
  if (kind === 'turn') return turn(world, n)
  if (kind === 'wait') return world.passes(waits[n]!)
  if (kind === 'engine') return actor?.step(n % 4)
  if (kind === 'voice') return world.voice(!world.isVoiced)
  if (kind === 'partial' || kind === 'final') return world.heard(world.word(), kind === 'final')
  if (kind === 'key') return conversation.digit('12#'[n % 3]!)
  if (kind === 'say') return world.say([world.word(), world.word()].join(' '))
  if (kind === 'message') return conversation.message({ role: 'system', content: 'Note.' }, n % 2 === 0)
  if (kind === 'result') return world.finishFunction(n % 4 > 0)
  if (kind === 'late') return actor?.late(n % 4)
  if (kind === 'fail') return n < 3 && world.fail()
  if (kind === 'closing') return world.close(waits[n]! + 2000)
  if (kind === 'hold') return n < 4 && conversation.hold()
  if (kind === 'unhold') return conversation.unhold()
  if (kind === 'ready') return world.ready()
  if (kind === 'change')
    return conversation.change(n % 2 ? { prompt: world.word() } : { turns: { keyMs: 500 } })
  if (kind === 'over') return n === 0 && actor?.link.listener.onInterrupted()
  if (kind === 'leave') return world.leave()
  return conversation.hangUp()
}

/** Lets everything come to its end. */
export const finish = async (world: ConversationWorld): Promise<void> => {
  world.conversation.unhold()
  world.voice(false)
  let quiet = 0
  for (let i = 0; i < 200 && quiet < 15 && !world.isOver; i++) {
    world.ready()
    world.actor?.step(3)
    world.finishFunction(true)
    await world.passes(400)
    const isQuiet = world.conversation.isQuiet && (world.actor?.isIdle ?? true)
    // A text that the engine does not speak is given up after 15 s.
    quiet = isQuiet && world.running.length === 0 && world.pending === 0 ? quiet + 1 : 0
  }
}
