import { describe, expect, it } from 'vitest'
import { TurnsRig } from './turns-rig.ts'

/** The agent speaks an answer to a turn. */
const speaking = (): TurnsRig => {
  const rig = new TurnsRig({ transparentBargeMs: 0 })
  rig.says('book a table').wait(700)
  rig.speaks()
  expect(rig.news).toEqual(['commit: book a table'])
  return rig
}

describe('voice that was none', () => {
  it('lets the agent go on at once', () => {
    const rig = speaking()
    rig.turns.voice(true)
    rig.wait(130)
    rig.turns.noVoice()
    expect(rig.news).toEqual(['fade', 'resume'])
    expect(rig.turns.state).toBe('speaking')
  })

  it('does not let the agent go on over words, or over a turn that the engine heard begin', () => {
    const rig = speaking()
    rig.turns.voice(true)
    rig.turns.change({ bargeMinWords: 3 })
    rig.wait(100).partial('please stop')
    rig.turns.noVoice()
    expect(rig.news).toEqual(['fade'])
    rig.partial('please stop that')
    expect(rig.news).toEqual(['cut: normal please stop that'])

    const other = speaking()
    other.turns.voice(true)
    other.turns.engineTurn('began')
    other.turns.noVoice()
    expect(other.news).toEqual(['fade'])
  })

  it('counts as a sound without words', () => {
    const rig = speaking()
    for (let i = 0; i < 3; i++) {
      rig.turns.voice(true)
      rig.turns.noVoice()
    }
    expect(rig.news.filter((effect) => effect === 'fade').length).toBe(3)
    rig.turns.voice(true)
    expect(rig.news).toEqual(['resume'])
  })

  it('does not delay the end of a turn', () => {
    const rig = new TurnsRig()
    rig.says('book a table').wait(400)
    rig.turns.voice(true)
    rig.wait(290)
    rig.turns.noVoice()
    rig.wait(9)
    expect(rig.commits).toEqual([])
    rig.wait(1)
    expect(rig.commits[0]!.endedAt! - rig.commits[0]!.startedAt!).toBe(1000)
  })

  it('ends a turn at once whose silence is over already', () => {
    const rig = new TurnsRig()
    rig.says('book a table').wait(600)
    rig.turns.voice(true)
    rig.wait(190)
    expect(rig.commits).toEqual([])
    rig.turns.noVoice()
    rig.wait(0)
    expect(rig.commits).toMatchObject([{ text: 'book a table' }])
  })

  it('is no turn', () => {
    const rig = new TurnsRig()
    rig.turns.voice(true)
    expect(rig.turns.state).toBe('caller')
    rig.turns.noVoice()
    expect(rig.turns.state).toBe('listening')
  })

  it('is no reason to open the recogniser again', () => {
    const rig = new TurnsRig()
    for (let i = 0; i < 50; i++) {
      rig.turns.voice(true)
      rig.wait(200)
      rig.turns.noVoice()
    }
    expect(rig.news).toEqual([])
  })
})
