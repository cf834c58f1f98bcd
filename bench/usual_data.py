"""Data of the programs in bench/usual_models, simulated from one seed: a dict of Stan's names."""
import numpy as np


def data_of(model):
    r = np.random.default_rng(20261128)
    if model == "local_level":
        T = 200
        return dict(T=T, y=np.cumsum(r.normal(0, .2, T)) + r.normal(0, .5, T))
    if model == "stochastic_volatility":
        T, h = 500, [-1.0]
        for _ in range(T - 1):
            h.append(-1 + .95 * (h[-1] + 1) + .25 * r.normal())
        return dict(T=T, y=np.exp(np.array(h) / 2) * r.normal(size=T))
    if model in ("horseshoe", "regularised_horseshoe"):
        N, D, b = (60, 40, [2, -1.5, 1, .7]) if model == "horseshoe" else (100, 60, [2, -2, 1.5])
        X = r.normal(size=(N, D))
        eta = X[:, :len(b)] @ np.array(b)
        return dict(N=N, D=D, X=X, y=eta + r.normal(size=N) if model == "horseshoe" else r.binomial(1, 1 / (1 + np.exp(-eta))))
    if model == "varying_slopes":
        J, N = 30, 300
        g, x, b = r.integers(0, J, N), r.normal(size=N), np.array([1, .5]) + r.normal(size=(J, 2)) * [.8, .3]
        return dict(N=N, J=J, g=g + 1, x=x, y=b[g, 0] + b[g, 1] * x + r.normal(0, .7, N))
    if model == "gaussian_process":
        x = np.sort(r.uniform(-3, 3, 50))
        return dict(N=50, x=x, y=np.sin(2 * x) + r.normal(0, .3, 50))
    if model == "three_normals":
        c = r.integers(0, 3, 300)
        return dict(N=300, K=3, y=np.array([-3, 0, 2.5])[c] + r.normal(size=300) * np.array([.7, .5, 1])[c])
    if model == "two_normals_unordered":
        return dict(N=200, y=np.where(r.random(200) < .35, r.normal(-2, 1, 200), r.normal(2, .7, 200)))
    if model == "grid_field":
        n = 15
        at = np.arange(n * n).reshape(n, n) + 1
        a, b = np.r_[at[:, :-1].ravel(), at[:-1].ravel()], np.r_[at[:, 1:].ravel(), at[1:].ravel()]
        offset, field = r.normal(1, .3, n * n), .4 * np.add.outer(np.sin(np.arange(n) / 3), np.cos(np.arange(n) / 4)).ravel()
        return dict(N=n * n, E=len(a), a=a, b=b, log_expected=offset, y=r.poisson(np.exp(offset + field)))
    if model == "seasonal_counts":
        t = np.arange(120)
        return dict(T=120, y=r.poisson(np.exp(1 + np.sin(t / 20) + .3 * np.sin(t * np.pi / 6))))
    if model == "crossed_logit":
        N, J, K = 1000, 50, 20
        g, h, x = r.integers(0, J, N), r.integers(0, K, N), r.normal(size=N)
        eta = .3 + .8 * x + r.normal(0, .7, J)[g] + r.normal(0, .2, K)[h]
        return dict(N=N, J=J, K=K, g=g + 1, h=h + 1, x=x, y=r.binomial(1, 1 / (1 + np.exp(-eta))))
    if model == "beta_binomial":
        n = r.integers(10, 50, 71)
        return dict(J=71, n=n, y=r.binomial(n, r.beta(2, 14, 71)))
    if model == "covariance":
        return dict(N=100, D=6, y=r.multivariate_normal(np.zeros(6), .5 + .5 * np.eye(6), 100))
    if model == "change_point":
        return dict(T=100, y=np.r_[r.poisson(3, 40), r.poisson(1, 60)])
    X, b = r.normal(size=(200, 5)), np.array([.5, -.3, 0, .2, 0])
    if model == "negative_binomial":
        return dict(N=200, K=5, X=X, y=r.negative_binomial(2, 2 / (2 + np.exp(1 + X @ b))))
    if model == "ordered_logit":
        u = X @ b * 2 + r.logistic(size=200)
        return dict(N=200, K=5, C=5, X=X, y=1 + (u[:, None] > [-2, -.5, .5, 2]).sum(1))
    if model == "student_t_regression":
        return dict(N=200, K=5, X=X, y=1 + X @ b + .5 * r.standard_t(3, 200))
    return with_latent_values(model, r)


def logistic(v):
    return 1 / (1 + np.exp(-v))


def with_latent_values(model, r):
    """Models in time, effects of groups, and values that nobody sees."""
    if model == "local_trend":
        T = 120
        level = np.cumsum(np.cumsum(.05 * r.normal(size=T)) + .2 * r.normal(size=T))
        return dict(T=T, y=level + .4 * r.normal(size=T))
    if model == "correlated_logit":
        J, N = 100, 1500
        g, x, z = r.integers(0, J, N), r.normal(size=N), r.normal(size=(J, 2))
        b = np.stack([.5 + .8 * z[:, 0], -.4 + .5 * (.6 * z[:, 0] + .8 * z[:, 1])], 1)
        return dict(N=N, J=J, g=g + 1, x=x, y=r.binomial(1, logistic(b[g, 0] + b[g, 1] * x)))
    if model == "errors_in_x":
        N = 150
        x = 1 + r.normal(size=N)
        return dict(N=N, measured=x + .5 * r.normal(size=N), y=.5 + 1.2 * x + .4 * r.normal(size=N), error=.5)
    if model == "nested":
        D, S, C, N = 8, 40, 120, 900
        district, school, class_of, x = r.integers(0, D, S), r.integers(0, S, C), r.integers(0, C, N), r.normal(size=N)
        s = (.5 * r.normal(size=D))[district] + .4 * r.normal(size=S)
        c = s[school] + .3 * r.normal(size=C)
        return dict(N=N, D=D, S=S, C=C, district=district + 1, school=school + 1, class_of=class_of + 1, x=x,
                    y=2 + .5 * x + c[class_of] + .8 * r.normal(size=N))
    if model == "autoregressive_shares":
        T, x = 150, [0.0]
        for _ in range(T - 1):
            x.append(.9 * x[-1] + .3 * r.normal())
        n = r.integers(5, 20, T)
        return dict(T=T, n=n, y=r.binomial(n, logistic(-.5 + np.array(x))))
    if model == "latent_process":
        x = np.sort(r.uniform(0, 10, 60))
        return dict(N=60, x=x, y=r.poisson(np.exp(1.2 + .8 * np.sin(x))))
    if model == "frailty":
        N, J, K = 400, 40, 4
        g, X, shape = r.integers(0, J, N), r.normal(size=(N, K)), 1.4
        t = np.exp((.5 - X @ [.5, -.3, .2, 0] - (.6 * r.normal(size=J))[g]) / shape) * r.weibull(shape, N)
        end = r.exponential(3, N)
        return dict(N=N, J=J, K=K, g=g + 1, X=X, t=np.minimum(t, end) + 1e-6, seen=(t < end).astype(int))
    if model in ("hidden_markov", "states_unordered"):
        T, P, s, y = 400, [[.9, .07, .03], [.1, .8, .1], [.02, .08, .9]], 0, []
        for _ in range(T):
            s = r.choice(3, p=P[s])
            y.append([-2, .5, 3][s] + [.6, 1, .8][s] * r.normal())
        return dict(T=T, K=3, y=np.array(y))
    if model == "dirichlet_counts":
        J, K = 30, 5
        m = r.dirichlet(np.ones(K))
        return dict(J=J, K=K, y=np.array([r.multinomial(40, r.dirichlet(15 * m)) for _ in range(J)]))
    if model == "factors":
        N, L = 100, np.array([[1, 0], [.6, .8], [.3, -.5], [-.7, .4], [.2, .9], [.5, .5]])
        return dict(N=N, D=6, y=.3 + r.normal(size=(N, 2)) @ L.T + .5 * r.normal(size=(N, 6)))
    if model == "rasch":
        I, J = 20, 200
        item, person = np.tile(np.arange(I), J), np.repeat(np.arange(J), I)
        eta = r.normal(0, 1.2, J)[person] - r.normal(.3, .9, I)[item]
        return dict(I=I, J=J, N=I * J, item=item + 1, person=person + 1, y=r.binomial(1, logistic(eta)))
    return with_several_modes(model, r)


def with_several_modes(model, r):
    """Components that may swap, and signs that may change; and modes that are no images of each other."""
    if model == "waves":
        t = np.sort(r.uniform(0, 30, 14))
        return dict(N=14, t=t, y=.5 + 1.2 * np.cos(2 * np.pi * .37 * t) + .6 * np.sin(2 * np.pi * .37 * t) + .8 * r.normal(size=14))
    if model == "two_widths":
        return dict(N=26, y=np.vstack([r.normal(-2, 1.2, (14, 2)), r.normal(2, 1.3, (12, 2))]))
    if model == "latent_classes":
        N, J, p = 600, 8, .1 + .8 * r.random((3, 8))
        return dict(N=N, J=J, K=3, y=r.binomial(1, p[r.choice(3, N, p=[.5, .3, .2])]))
    if model == "two_lines":
        x, first = r.normal(size=200), r.random(200) < .4
        return dict(N=200, x=x, y=np.where(first, 1 + 2 * x, -1 - x) + .5 * r.normal(size=200))
    if model == "one_factor":
        f = r.normal(size=150)
        return dict(N=150, D=6, y=np.outer(f, [.9, -.8, .7, .6, -.5, .8]) + .5 * r.normal(size=(150, 6)))
    if model == "discriminations":
        alpha, beta, theta = r.normal(1, .4, 12), r.normal(size=12), r.normal(size=(150, 1))
        return dict(I=12, J=150, y=r.binomial(1, logistic(alpha * theta + beta)))
    if model == "clouds":
        at = np.array([[0, 0], [3, 3], [-3, 2]])[r.choice(3, 300)]
        return dict(N=300, K=3, y=at + r.normal(size=(300, 2)) @ np.array([[1, .3], [0, .8]]))
    return {}  # of a density alone
