/** Language of the page. */
export type Language = 'en' | 'de'

/** Texts of notifications in English. The service worker shows them too. */
export const alertsEn = {
  incomingCall: 'Incoming call',
  incomingVideoCall: 'Incoming video call',
  missedCall: 'Missed call',
  answer: 'Answer',
  decline: 'Decline',
  unknownNumber: 'Unknown number',
} as const

/** Texts of notifications in one language. */
export type AlertTexts = { readonly [Key in keyof typeof alertsEn]: string }

/** Texts of notifications in German. */
export const alertsDe: AlertTexts = {
  incomingCall: 'Eingehender Anruf',
  incomingVideoCall: 'Eingehender Videoanruf',
  missedCall: 'Verpasster Anruf',
  answer: 'Annehmen',
  decline: 'Ablehnen',
  unknownNumber: 'Unbekannte Nummer',
}

/** Texts of notifications by language. */
export const alertTexts = { en: alertsEn, de: alertsDe } as const
