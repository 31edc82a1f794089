import type { Call } from '@trunkline/client'
import { useEffect, useRef, useState } from 'preact/hooks'
import { duration, readableNumber } from '../format.ts'
import { type Line, namesOf } from '../lines.ts'
import { texts } from '../texts/language.ts'
import { lineText } from './call-state.tsx'
import { lazy } from './lazy.tsx'
import { Level } from './level.tsx'
import { usePage } from './page.ts'
import { Avatar } from './parts.tsx'
import { HangUp, MuteTool, Tool, VideoTools } from './tool.tsx'

const Keypad = lazy(() => import('./keypad.tsx'), 'Keypad')
const RoomView = lazy(() => import('./room.tsx'), 'RoomView')
const TranscriptView = lazy(() => import('./transcript.tsx'), 'TranscriptView')
const Picture = lazy(() => import('./picture.tsx'), 'Picture')

/** Returns what a call shows: video of the far side, and of the user's camera. */
const videoOf = (call: Call): { readonly local: boolean; readonly remote: boolean } =>
  call.active ? call.video : { local: false, remote: false }

/** The current call: a room, or the panel of another call. */
export const CallView = () => {
  const { phone } = usePage()
  const { current } = phone
  if (!current) return null
  const { room } = current.call
  if (room) return <RoomView key={room.id} line={current} room={room} />
  return <Panel key={current.call.id} line={current} />
}

const Panel = ({ line }: { readonly line: Line }) => {
  const { phone } = usePage()
  const [padIsOpen, setPad] = useState(false)
  const panel = useRef<HTMLElement>(null)
  const t = texts.value
  const { call } = line
  const hasSound = call.active || call.state === 'early'
  const { local, remote } = videoOf(call)
  const seen = local || remote
  const isPad = padIsOpen && hasSound
  const isWritten = line.said.length > 0
  return (
    <section
      ref={panel}
      class={`call ${seen ? 'seen' : ''} ${isPad ? 'pad-open' : ''} ${isWritten ? 'written' : ''}`}
      aria-label={t.currentCall}
      data-testid="active"
      data-state={call.state}
    >
      {seen && <Picture call={call} local={local} remote={remote} panel={panel} />}
      <Party line={line} />
      <Digits line={line} />
      {isWritten && <TranscriptView line={line} />}
      {isPad && <Keypad press={(key) => void phone.controls.press(key)} testId="key" />}
      <div class="controls">
        <Tools line={line} padIsOpen={isPad} openPad={() => setPad(!padIsOpen)} />
        <HangUp icon="handset" label={t.hangUp} />
      </div>
    </section>
  )
}

const Party = ({ line }: { readonly line: Line }) => {
  // A call changes in place.
  usePage()
  const t = texts.value
  const { call } = line
  const name = namesOf(line)
  const hasSound = call.active || call.state === 'early'
  const state = lineText(line)
  return (
    <div class="party">
      <Level
        stream={hasSound ? call.remoteStream : undefined}
        label={t.theirLevel}
        testId="remote-level"
        class={call.active ? 'ring' : 'ring calling'}
      >
        <Avatar name={name} size="huge" />
      </Level>
      <div class="party-text">
        <h2>
          <span data-testid="party">{name}</span>
          <CallTime since={line.answeredAt} />
          {state === undefined && call.quality && <Quality bars={call.quality.bars} />}
        </h2>
        <p class="quiet">{readableNumber(line.number, line.name)}</p>
        {state !== undefined && (
          <p class={state === t.reconnectingCall ? 'state broken' : 'state'} aria-hidden="true">
            {state}
          </p>
        )}
        {line.adding && (
          <p role="status" data-testid="adding">
            {t.callingPerson(line.adding)}
          </p>
        )}
      </div>
    </div>
  )
}

/** Quality of the connection. */
export const Quality = ({ bars }: { readonly bars: 0 | 1 | 2 | 3 }) => {
  const t = texts.value
  const label = [t.qualityNone, t.qualityBad, t.qualityFair, t.qualityGood][bars]
  return (
    <span
      class="quality"
      role="img"
      aria-label={label}
      title={label}
      data-bars={bars}
      data-testid="quality"
    />
  )
}

/** Duration of a call. `since`: time of the answer in ms since the epoch. */
export const CallTime = ({ since }: { readonly since: number | undefined }) => {
  const { clock } = usePage()
  const shown = useRef<HTMLSpanElement>(null)
  useEffect(() => {
    if (since === undefined) return
    let timer = clock.after(0, step)
    function step() {
      const text = duration(clock.now() - (since ?? 0))
      if (shown.current) shown.current.textContent = text
      timer = clock.after(500, step)
    }
    return () => timer.cancel()
  }, [since])
  if (since === undefined) return null
  return <span ref={shown} class="timer" role="timer" aria-label={texts.value.callTime} data-testid="timer" />
}

const Digits = ({ line: { pressed, received } }: { readonly line: Line }) => {
  const t = texts.value
  return (
    <p class="digits" hidden={!pressed && !received}>
      <span hidden={!pressed}>
        <span class="quiet">{t.sentKeys} </span>
        <span data-testid="digits-sent">{pressed}</span>
      </span>
      <span hidden={!received}>
        <span class="quiet">{t.receivedKeys} </span>
        <span data-testid="digits-received" aria-live="polite">
          {received}
        </span>
      </span>
    </p>
  )
}

/** Properties of {@link Tools}. */
interface ToolsProps {
  readonly line: Line
  readonly padIsOpen: boolean
  readonly openPad: () => void
}

const Tools = ({ line: { call }, padIsOpen, openPad }: ToolsProps) => {
  const { phone, ui } = usePage()
  const { controls } = phone
  const t = texts.value
  const hasSound = call.active || call.state === 'early'
  return (
    <div class="tools">
      <div class="tool-level">
        <MuteTool call={call} />
        <Level
          stream={hasSound ? call.localStream : undefined}
          label={t.yourLevel}
          testId="local-level"
          class="small-level"
        />
      </div>
      <VideoTools call={call} />
      <Tool name="keypad" icon="keypad" label={t.keypad} on={padIsOpen} enabled={hasSound} press={openPad} />
      <Tool
        name="hold"
        icon="pause"
        label={call.state === 'held' ? t.resume : t.hold}
        on={call.state === 'held'}
        enabled={call.active}
        press={() => void controls.toggleHold()}
      />
      {(['add', 'transfer'] as const).map((dialog) => (
        <Tool
          key={dialog}
          name={dialog}
          icon={dialog}
          label={t[dialog]}
          on={ui.dialog.value === dialog}
          enabled={call.active}
          press={() => {
            ui.dialog.value = dialog
          }}
        />
      ))}
    </div>
  )
}
