/** The libraries that encrypt push messages and speak SMTP. The build puts them into one file, loaded when first used. */
export { createTransport } from 'nodemailer'
export { generateRequestDetails } from 'web-push'
