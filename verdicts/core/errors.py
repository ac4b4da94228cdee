"""Errors of the external services, each with its handling.

OracleError
  ModelError
    ModelBusy                retry: the queue tries again later
      ModelQuotaExhausted    the quota is used up, and other calls already wait for it
    ModelRefused             no retry: the order fails and goes to staff
    ModelRetired             no retry with this model: operators are alerted once
  PaymentError
    PaymentsBusy             retry later: 503
    UnknownSession           Stripe does not know the session: 404
    PaymentRefused           Stripe rejects the request: operators have to look into it
    AlreadyRefunded          fully refunded before: treated as success
    BadSignature             not sent by Stripe: 400
    BadEvent                 signed, but not a valid event: 400
  CaseTaken                  someone else has claimed or decided the case: shown to the user
    RefundedMeanwhile        the money was refunded all the same
  CannotResend               nothing to send again, or it is being sent: shown to the user
  MailError
    MailRefused              not accepted: retry, but not before `retry_after` seconds
    MailUncertain            may or may not have been accepted; a retry has the same Message-ID
  SiteUnreachable            a running site or the sandbox does not respond: shown to the tester
"""


class OracleError(Exception):
    """Base of all errors of the clients. Messages contain no customer text and no key."""


class ModelError(OracleError):
    pass


class ModelBusy(ModelError):
    pass


class ModelQuotaExhausted(ModelBusy):
    pass


class ModelRefused(ModelError):
    pass


class ModelRetired(ModelError):
    pass


class PaymentError(OracleError):
    pass


class PaymentsBusy(PaymentError):
    pass


class UnknownSession(PaymentError):
    pass


class PaymentRefused(PaymentError):
    pass


class AlreadyRefunded(PaymentError):
    pass


class BadSignature(PaymentError):
    pass


class BadEvent(PaymentError):
    pass


class CaseTaken(OracleError):
    pass


class RefundedMeanwhile(CaseTaken):
    pass


class CannotResend(OracleError):
    pass


class MailError(OracleError):
    pass


class MailRefused(MailError):
    def __init__(self, message: str, *, retry_after: float = 0) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class MailUncertain(MailError):
    pass


class SiteUnreachable(OracleError):
    pass
