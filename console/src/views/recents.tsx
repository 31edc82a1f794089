import { clockTime, day } from '../dates.ts'
import { duration, readableName } from '../format.ts'
import type { RecentCall } from '../memory.ts'
import type { Texts } from '../texts/en.ts'
import { texts } from '../texts/language.ts'
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
    answered_elsewhere: t.resultElsewhere,
    declined: t.resultDeclined,
    busy: t.resultBusy,
    no_answer: t.resultNoAnswer,
    canceled: t.resultCanceled,
    failed: t.resultFailed,
    lost: t.resultLost,
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
  const t = texts.value
  const days = Map.groupBy(recents.list, ({ at }) => day(at, clock.now()))
  if (recents.list.length === 0)
    return (
      <Empty icon="clock" text={t.noCalls}>
        <button
          type="button"
          class="plain"
          onClick={() => {
            ui.tab.value = 'phone'
            document.querySelector<HTMLElement>('[data-focus="dial"]')?.focus()
          }}
        >
          {t.makeCall}
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
