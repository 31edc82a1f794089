import { clockTime, day } from '../dates.ts'
import { duration, plainAddress, readableName } from '../format.ts'
import type { RecentCall } from '../memory.ts'
import type { Texts } from '../texts/en.ts'
import { texts } from '../texts/language.ts'
import { laterTexts } from '../texts/later.ts'
import { Empty } from './empty.tsx'
import { Icon, type IconName } from './icon.tsx'
import { usePage } from './page.ts'
import { Avatar, IconButton } from './parts.tsx'

/** Returns the result of a past call in words. */
const resultText = ({ direction, result }: RecentCall, t: Texts): string => {
  const way = { inbound: t.incoming, outbound: t.outgoing, missed: t.missed }[direction]
  const results = {
    answered: way,
    missed: t.missed,
    answered_elsewhere: laterTexts().resultElsewhere,
    declined: laterTexts().resultDeclined,
    busy: laterTexts().resultBusy,
    no_answer: laterTexts().resultNoAnswer,
    canceled: laterTexts().resultCanceled,
    failed: laterTexts().resultFailed,
    lost: laterTexts().resultLost,
  }
  return result ? results[result] : way
}

const iconOf = ({ direction }: RecentCall): IconName =>
  (({ inbound: 'incoming', outbound: 'outgoing', missed: 'missed' }) as const)[direction]

const isBad = ({ direction, result }: RecentCall): boolean =>
  (direction === 'missed' && result !== 'declined') || result === 'failed' || result === 'lost'

const Row = ({ call }: { readonly call: RecentCall }) => {
  const { phone, ui } = usePage()
  const t = texts.value
  const name = readableName(call.name)
  const text = (
    <>
      <Avatar name={name} />
      <span class="entry-text">
        <span class="entry-name">{name}</span>
        <span class="quiet result">
          <Icon name={iconOf(call)} />
          {resultText(call, t)}
          {call.durationMs !== undefined && <span> · {duration(call.durationMs)}</span>}
        </span>
      </span>
      <time class="quiet" dateTime={new Date(call.at).toISOString()}>
        {clockTime(call.at)}
      </time>
    </>
  )
  return (
    <li class={isBad(call) ? 'entry bad' : 'entry'} data-testid="recent" data-result={call.result ?? ''}>
      {ui.wide.value ? (
        <button
          type="button"
          class="entry-open"
          onClick={() => {
            ui.contact.value = { name: call.name, to: call.to }
          }}
        >
          {text}
        </button>
      ) : (
        text
      )}
      <IconButton
        icon="pickup"
        label={t.callPerson(name)}
        press={() => void phone.dial(call.to, { name: call.name })}
      />
    </li>
  )
}

/** Past calls, by day; each can be called back. */
export const RecentsView = () => {
  const { recents, clock, ui } = usePage()
  const days = Map.groupBy(recents.list, ({ at }) => day(at, clock.now()))
  if (recents.list.length === 0)
    return (
      <Empty icon="clock" text={laterTexts().noCalls}>
        <button
          type="button"
          class="plain"
          onClick={() => {
            ui.tab.value = 'phone'
            document.querySelector<HTMLElement>('[data-focus="dial"]')?.focus()
          }}
        >
          {laterTexts().makeCall}
        </button>
      </Empty>
    )
  return (
    <div class="page" data-testid="recents">
      {[...days].map(([title, calls]) => (
        <section key={title} class="day">
          <h3>{title}</h3>
          <ul class="entries">
            {calls.map((call) => (
              <Row key={`${call.at} ${call.to}`} call={call} />
            ))}
          </ul>
        </section>
      ))}
    </div>
  )
}

const maxLatest = 5

/** Latest parties, to call again with one click. */
export const Latest = () => {
  const { recents, phone } = usePage()
  const t = texts.value
  const parties = new Map<string, RecentCall>()
  for (const call of recents.list) {
    const key = plainAddress(call.to)
    if (!parties.has(key)) parties.set(key, call)
  }
  const shown = [...parties.values()].slice(0, maxLatest)
  if (shown.length === 0) return null
  return (
    <section class="latest" aria-label={t.recentCalls}>
      <h3>{t.recentCalls}</h3>
      <ul>
        {shown.map(({ to, name }) => (
          <li key={to}>
            <button
              type="button"
              class="chip"
              aria-label={t.callPerson(readableName(name))}
              onClick={() => void phone.dial(to, { name })}
            >
              <Avatar name={readableName(name)} />
              <span>{readableName(name)}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}
