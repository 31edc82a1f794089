import { readableName, readableNumber } from '../format.ts'
import type { Incoming } from '../phone.ts'
import { texts } from '../texts/language.ts'
import { Icon } from './icon.tsx'
import { usePage } from './page.ts'
import { Avatar, IconButton } from './parts.tsx'

const Ringing = ({ call, first }: { readonly call: Incoming; readonly first: boolean }) => {
  const { phone } = usePage()
  const t = texts.value
  const { id, number, answering } = call
  const name = readableName(call.name)
  return (
    <section
      class="incoming"
      role="alertdialog"
      aria-labelledby={`from-${id}`}
      aria-describedby={`kind-${id}`}
      data-testid="incoming"
    >
      <div class="incoming-who">
        <Avatar name={name} size="big ringing" />
        <div>
          <p class="quiet" id={`kind-${id}`}>
            {call.video ? t.incomingVideoCall : t.incomingCall}
          </p>
          <h2 id={`from-${id}`} data-testid="caller">
            {name}
          </h2>
          <p class="quiet" data-testid="caller-number">
            {readableNumber(number, call.name)}
          </p>
          {phone.current && !answering && <p class="quiet">{t.answerHolds}</p>}
        </div>
      </div>
      <div class="answers">
        <button
          type="button"
          class="decline"
          aria-label={t.declineCall(name)}
          data-testid="reject"
          onClick={() => phone.reject(id)}
        >
          <Icon name="handset" />
          {t.decline}
        </button>
        <IconButton
          icon="camera"
          label={t.answerWithVideo}
          press={() => void phone.accept(id, { video: true })}
          testId="accept-video"
          disabled={phone.isBusy}
          class="answer-video"
        />
        <button
          type="button"
          class="primary"
          aria-label={answering ? undefined : t.answerCall(name)}
          data-testid="accept"
          data-focus={first ? 'answer' : undefined}
          disabled={phone.isBusy}
          onClick={() => void phone.accept(id)}
        >
          <Icon name="pickup" />
          {answering ? t.answering : t.answer}
        </button>
      </div>
    </section>
  )
}

/** Incoming calls, above the page: they move nothing. */
export const IncomingCalls = () => {
  const { phone } = usePage()
  return phone.incoming.map((call, at) => <Ringing key={call.id} call={call} first={at === 0} />)
}
