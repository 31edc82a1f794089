import { describe, expect, it } from 'vitest'
import { TurnsRig } from './turns-rig.ts'

describe('keys', () => {
  it('are one turn after a pause, or at a terminator', () => {
    const rig = new TurnsRig({ keyTerminators: '#' })
    rig.turns.key('1')
    rig.wait(2999).turns.key('2')
    rig.wait(3000)
    rig.heardAll(rig.speaks())
    rig.turns.key('3')
    rig.turns.key('#')
    rig.wait(0)
    expect(rig.commits.map(({ text, by }) => [text, by])).toEqual([
      ['12', 'keys'],
      ['3', 'keys'],
    ])
  })
})

describe('silence', () => {
  it('makes the agent speak, counted from the last played sample', () => {
    const rig = new TurnsRig({ attentionMs: 5000, attentionPrompt: 'Ask.' })
    const answer = rig.speaks()
    rig.wait(20_000).heardAll(answer).wait(4999)
    expect(rig.news).toEqual([])
    rig.wait(1)
    expect(rig.news).toEqual(['prompt: attention Ask.'])
    rig.heardAll(rig.speaks()).wait(4000)
    rig.sound(100).wait(4999)
    expect(rig.news).toEqual([])
    rig.wait(1)
    expect(rig.news).toEqual(['prompt: attention Ask.'])
  })

  it('never makes the agent speak over the caller, but noise does not count', () => {
    const rig = new TurnsRig({ attentionMs: 6000 })
    rig.turns.voice(true)
    for (let i = 0; i < 10; i++) rig.wait(2000).partial(`word ${i}`)
    expect(rig.news).toEqual([])
    const noisy = new TurnsRig({ attentionMs: 6000 })
    noisy.turns.voice(true)
    noisy.wait(5000)
    expect(noisy.news).toEqual(['revive hearing'])
    expect(noisy.turns.state).toBe('listening')
    noisy.wait(1000)
    expect(noisy.news[0]).toMatch(/^prompt: attention/)
  })

  it('ends the conversation, also with noise on the line', () => {
    const rig = new TurnsRig({ inactivityMs: 60_000 })
    for (let i = 0; i < 40; i++) rig.sound(1000).wait(1000)
    expect(rig.news.at(-1)).toBe('end: inactive')
  })

  it('lets the caller speak first, or for a time', () => {
    const rig = new TurnsRig({ attentionMs: 5000, waitForUser: true })
    rig.wait(60_000)
    expect(rig.news).toEqual([])
    rig.turns.waitForUser(8000)
    rig.wait(7999)
    expect(rig.news).toEqual([])
    rig.wait(1)
    expect(rig.news.length).toBe(1)
  })

  it('of the recogniser opens it again, less and less often', () => {
    const rig = new TurnsRig()
    rig.turns.voice(true)
    rig.wait(80_000)
    expect(rig.news).toEqual(['revive hearing', 'revive hearing', 'revive hearing', 'revive hearing'])
  })

  it.each(['its', 'duplex'] as const)('of an engine whose turns are %s ends no long voice', (turns) => {
    const rig = new TurnsRig({ engine: { turns, cut: 'truncate' } })
    rig.sound(30_000).wait(4999)
    expect(rig.news).toEqual([])
    rig.wait(1)
    expect(rig.news).toEqual(['revive hearing'])
    // Later sounds without a reaction have longer waits, and a cough needs none.
    rig.sound(700).wait(9999).sound(200).wait(9999)
    expect(rig.news).toEqual([])
    rig.wait(1)
    expect(rig.news).toEqual(['revive hearing'])
    // Voice during an answer is not for the engine alone.
    rig.sound(5000)
    const answer = rig.speaks()
    rig.sound(5000).heardAll(answer).wait(20_000)
    expect(rig.news).not.toContain('revive hearing')
  })

  it('of the engine asks it again, twice, and then gives up', () => {
    const rig = new TurnsRig()
    rig.says('are you there?').wait(250)
    rig.wait(4999)
    expect(rig.news).toEqual(['commit: are you there?'])
    rig.wait(1)
    expect(rig.news).toEqual(['revive answer'])
    rig.wait(10_000)
    expect(rig.news).toEqual(['revive answer', 'cut: given-up '])
    expect(rig.turns.state).toBe('listening')
  })

  it('in the middle of an answer ends it', () => {
    const rig = new TurnsRig()
    rig.speaks()
    rig.wait(1000).turns.played()
    rig.wait(5000)
    expect(rig.news).toEqual(['cut: given-up '])
    expect(rig.turns.state).toBe('listening')
  })

  it('after the audio of an answer that goes on ends it, however fast the audio came', () => {
    const rig = new TurnsRig({ engine: { turns: 'its', cut: 'truncate' } })
    const answer = rig.speaks()
    rig.turns.audioCame(answer, 8000)
    rig.wait(12_999)
    expect(rig.news).toEqual([])
    rig.turns.audioCame(answer, 1000)
    rig.wait(5999)
    expect(rig.news).toEqual([])
    rig.wait(1)
    // The engine may be dead: another session hears the next turn.
    expect(rig.news).toEqual(['cut: given-up ', 'revive hearing'])
    expect(rig.turns.state).toBe('listening')
  })

  it('revives no engine if a key or the handler ends its answer', () => {
    const rig = new TurnsRig({ engine: { turns: 'its', cut: 'truncate' }, keys: 'interrupt' })
    rig.speaks()
    rig.turns.key('1')
    expect(rig.news).toEqual(['cut: normal 1'])
    rig.speaks()
    rig.turns.drop(false)
    expect(rig.news).toEqual(['cut: given-up '])
  })

  it('of an engine that stopped does not revive it if the conversation ends with the answer', () => {
    const rig = new TurnsRig({ engine: { turns: 'its', cut: 'truncate' }, hardStopMs: 3000 })
    rig.turns.speechBegan(rig.answers())
    rig.turns.played()
    rig.wait(20_000)
    expect(rig.news.at(-1)).toBe('end: limit')
    expect(rig.turns.state).toBe('over')
  })

  it('after the audio of an answer does not count while the voice is lowered, nor after its end', () => {
    const rig = new TurnsRig()
    const answer = rig.speaks()
    rig.turns.audioCame(answer, 3000)
    rig.wait(1000).turns.hold()
    rig.wait(60_000).turns.unhold()
    rig.wait(6999)
    expect(rig.turns.state).toBe('speaking')
    rig.turns.answerDelivered(answer)
    rig.wait(60_000)
    expect(rig.news).toEqual(['fade', 'resume'])
  })

  it('of an answer without sound ends it', () => {
    const rig = new TurnsRig()
    rig.turns.answerDelivered(rig.answers())
    // A filler is being heard before it.
    rig.wait(20_000)
    expect(rig.turns.state).toBe('thinking')
    rig.turns.played()
    expect(rig.turns.state).toBe('listening')
  })

  it('is filled while the model thinks, and left to the fillers of a function while that runs', () => {
    const rig = new TurnsRig()
    rig.says('the weather?').wait(250).wait(700)
    expect(rig.effects).toEqual(['prepare: the weather?', 'commit: the weather?', 'filler: thinking'])
    rig.effects.splice(0)
    rig.says('and tomorrow?').wait(250).wait(100)
    rig.turns.functionBegan('f1')
    rig.wait(1000)
    expect(rig.effects.filter((effect) => effect.startsWith('filler'))).toEqual([])
  })
})

describe('end of a conversation', () => {
  it('waits for the last words, 10 s at most', () => {
    const rig = new TurnsRig()
    const answer = rig.speaks()
    rig.turns.leave()
    expect(rig.turns.state).toBe('leaving')
    rig.says('wait please').wait(1000)
    rig.heardAll(answer)
    expect(rig.news).toEqual(['resume', 'end: stopped'])
    expect(rig.turns.state).toBe('over')
    const stuck = new TurnsRig()
    stuck.speaks()
    stuck.turns.leave()
    stuck.wait(10_000)
    expect(stuck.news).toEqual(['end: stopped'])
    const idle = new TurnsRig()
    idle.turns.leave()
    expect(idle.news).toEqual(['end: stopped'])
  })

  it('comes at the hard stop, after last words', () => {
    const rig = new TurnsRig({ hardStopMs: 60_000, hardStopPrompt: 'Say goodbye.' })
    const answer = rig.speaks()
    rig.wait(60_000)
    expect(rig.news).toEqual([])
    rig.heardAll(answer)
    expect(rig.news).toEqual(['prompt: limit Say goodbye.'])
    const last = rig.speaks()
    rig.wait(3000).heardAll(last)
    expect(rig.news).toEqual(['end: limit'])
  })

  it('comes at the hard stop without words, if it has no instruction', () => {
    const rig = new TurnsRig({ hardStopMs: 60_000 })
    rig.speaks()
    rig.wait(69_999)
    expect(rig.news).toEqual([])
    rig.wait(1)
    expect(rig.news).toEqual(['cut: given-up ', 'end: limit'])
  })

  it('has no effect after it', () => {
    const rig = new TurnsRig()
    rig.speaks()
    rig.turns.close()
    rig.says('hello there').wait(100_000)
    rig.turns.key('1')
    rig.turns.said('hello')
    rig.turns.leave()
    expect(rig.effects).toEqual([])
    expect(rig.clock.running).toBe(0)
  })
})

describe('other turns', () => {
  it('by texts are answered one after another', () => {
    const rig = new TurnsRig()
    rig.turns.said('first')
    rig.turns.said('second')
    expect(rig.news).toEqual(['commit: first'])
    rig.heardAll(rig.speaks())
    expect(rig.news).toEqual(['commit: second'])
  })

  it('without the name are overheard', () => {
    const rig = new TurnsRig({ wakeName: 'Computer' })
    rig.says('what a day').wait(700)
    rig.says('computer what time is it').wait(700)
    expect(rig.news).toEqual(['overheard: what a day', 'commit: computer what time is it'])
    rig.speaks()
    rig.says('that is late').wait(10)
    rig.says('computer stop').wait(700)
    expect(rig.news.filter((effect) => effect.startsWith('cut'))).toEqual([
      'cut: transparent that is late computer stop',
    ])
  })

  it('wait while the conversation is held', () => {
    const rig = new TurnsRig()
    rig.speaks()
    rig.turns.hold()
    rig.says('not for you').wait(700_000)
    expect(rig.news).toEqual(['fade'])
    rig.turns.unhold()
    expect(rig.news).toEqual(['resume'])
    expect(rig.turns.state).toBe('speaking')
  })

  it('give way to an unasked answer only without words', () => {
    const rig = new TurnsRig()
    rig.turns.voice(true)
    rig.partial('I would like')
    rig.answers()
    expect(rig.news).toEqual(['fade', 'cut: normal I would like'])
    expect(rig.turns.state).toBe('caller')
  })
})

describe('engines that decide turns', () => {
  it('are followed, and their turns reported', () => {
    const rig = new TurnsRig({ engine: { turns: 'its', cut: 'truncate' } })
    rig.turns.engineTurn('began')
    rig.says('book a table').wait(3000)
    expect(rig.commits).toEqual([])
    rig.turns.engineTurn('ended')
    expect(rig.commits).toMatchObject([{ text: 'book a table', endedBy: 'engine' }])
    rig.speaks()
    rig.wait(1000).turns.voice(true)
    rig.turns.engineTurn('began')
    expect(rig.news).toEqual(['commit: book a table', 'fade', 'cut: normal '])
  })

  it('may recognise after they answer', () => {
    const rig = new TurnsRig({ engine: { turns: 'its', cut: 'truncate' } })
    rig.sound(500).turns.engineTurn('ended')
    const answer = rig.speaks()
    rig.wait(500).final('book a table')
    expect(rig.news).toEqual(['commit: book a table'])
    expect(rig.turns.state).toBe('speaking')
    rig.heardAll(answer)
    expect(rig.turns.state).toBe('listening')
  })

  it('go on if an interruption brought nothing', () => {
    const rig = new TurnsRig({ engine: { turns: 'its', cut: 'truncate' } })
    rig.speaks()
    rig.wait(1000).turns.engineTurn('began')
    rig.wait(8000)
    expect(rig.news[0]).toBe('cut: normal ')
    expect(rig.news.length).toBe(0)
  })

  it('that hear while they speak decide everything but keys and the end', () => {
    const rig = new TurnsRig({ engine: { turns: 'duplex', cut: 'none' } })
    const answer = rig.speaks()
    rig.turns.voice(true)
    rig.wait(300).final('no wait')
    rig.turns.voice(false)
    rig.wait(240).heardAll(answer).wait(10_000)
    expect(rig.news).toEqual(['fade', 'resume'])
    rig.turns.key('7')
    rig.wait(3000)
    expect(rig.news).toEqual(['commit: 7'])
  })
})

describe('voice during a hold', () => {
  it('does not lower the answer after it', () => {
    const rig = new TurnsRig()
    rig.turns.hold()
    rig.turns.voice(true)
    rig.wait(500)
    rig.turns.unhold()
    expect(rig.turns.state).toBe('listening')
    rig.speaks()
    expect(rig.news).toEqual([])
    expect(rig.turns.state).toBe('speaking')
  })

  it('before it, too: its end may be missed', () => {
    const rig = new TurnsRig()
    rig.turns.voice(true)
    rig.turns.hold()
    rig.wait(60_000)
    rig.turns.unhold()
    expect(rig.turns.state).toBe('listening')
  })
})

describe('words without detected voice', () => {
  const echo = { text: 'your table is booked', isFinal: true, isEcho: true }

  it('do not interrupt if they are an echo of the agent, and begin no turn after it', () => {
    const rig = new TurnsRig()
    const answer = rig.speaks()
    rig.turns.heard({ ...echo, isFinal: false })
    rig.turns.heard(echo)
    expect([rig.news, rig.turns.state]).toEqual([[], 'speaking'])
    rig.heardAll(answer)
    rig.turns.heard(echo)
    rig.wait(3000)
    expect([rig.news, rig.turns.state]).toEqual([[], 'listening'])
  })

  it('interrupt if they are not', () => {
    const rig = new TurnsRig()
    rig.speaks()
    rig.wait(4000)
    rig.final('no that is wrong')
    expect(rig.news).toEqual(['cut: normal no that is wrong'])
  })

  it('of the agent interrupt if voice was detected: the caller may repeat them', () => {
    const rig = new TurnsRig()
    rig.speaks()
    rig.wait(4000).sound(800)
    rig.turns.heard(echo)
    expect(rig.news).toContain('cut: normal your table is booked')
  })
})
