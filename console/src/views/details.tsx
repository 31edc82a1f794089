import { clockTime, day } from '../dates.ts'
import { duration, plainAddress, readableName, readableNumber } from '../format.ts'
import { dialled } from '../people.ts'
import { texts } from '../texts/language.ts'
import { roomTexts } from '../texts/room.ts'
import { CopyButton } from './copy.tsx'
import { Icon } from './icon.tsx'
import { type Page, usePage } from './page.ts'
import { Avatar } from './parts.tsx'
import { joins, kindOf, presenceText } from './people.tsx'
import type { Contact } from './ui.ts'

const maxCalls = 4

/** Returns the contact of a running call, else the one that the user chose. */
const contactOf = ({ phone, people, ui }: Page): Contact | undefined => {
  const { current } = phone
  if (!current) return ui.contact.value
  const place = plainAddress(current.number)
  const address = people.list.find((entry) => {
    const to = dialled(entry, false)
    return to !== undefined && plainAddress(to) === place
  })
  return { name: current.name, to: current.number, ...(address && { address }) }
}

/** Third column of a wide page: the person of the call, or the chosen one. */
export const Details = () => {
  const page = usePage()
  const contact = contactOf(page)
  if (!contact) return null
  return (
    <aside class="details" aria-label={texts.value.details} data-testid="details">
      <Card contact={contact} />
    </aside>
  )
}

const Card = ({ contact: { name, to, address } }: { readonly contact: Contact }) => {
  const { phone, recents, clock, write, extras } = usePage()
  const state = address && extras?.presence.of(address.id)
  const t = texts.value
  const shown = readableName(name)
  const idle = phone.current === undefined
  const video = address?.channels.video
  const isRoom = address?.type === 'room'
  const calls = recents.list.filter((call) => plainAddress(call.to) === plainAddress(to)).slice(0, maxCalls)
  return (
    <>
      <div class="details-who">
        <Avatar name={shown} size="huge" presence={state} />
        <h2>{shown}</h2>
        <p class="quiet">
          {state ? presenceText(state, t) : address ? kindOf(address.type) : readableNumber(to, name)}
        </p>
      </div>
      <div class="details-actions">
        {idle && (
          <button
            type="button"
            class="outlined"
            data-testid="details-call"
            onClick={() => (address ? joins(phone, address, to) : void phone.dial(to, { name }))}
          >
            <Icon name="pickup" />
            {isRoom ? roomTexts().join : t.call}
          </button>
        )}
        {idle && video && (
          <button
            type="button"
            class="outlined"
            onClick={() => void phone.dial(video, { name, video: true })}
          >
            <Icon name="camera" />
            {isRoom ? roomTexts().joinVideo : t.video}
          </button>
        )}
        {address?.channels.messaging && (
          <button type="button" class="outlined" onClick={() => write(address)}>
            <Icon name="chat" />
            {t.message}
          </button>
        )}
      </div>
      <CopyButton text={plainAddress(to)} />
      {calls.length > 0 && (
        <>
          <h3>{t.recentCalls}</h3>
          <ul class="details-calls">
            {calls.map(({ at, direction, durationMs }) => (
              <li key={at}>
                <Icon
                  name={
                    direction === 'outbound' ? 'outgoing' : direction === 'missed' ? 'missed' : 'incoming'
                  }
                />
                <span>{day(at, clock.now())}</span>
                <span class="quiet">
                  {clockTime(at)}
                  {durationMs !== undefined && ` · ${duration(durationMs)}`}
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  )
}
